// The switch between light, dark and the scheme of the system. Debian's furo delivers its own as a module that browsers
// do not load; where it works, it has removed the class no-js before this runs.
document.addEventListener("DOMContentLoaded", function () {
    const root = document.documentElement;

    if (!root.classList.contains("no-js"))
        return;
    root.classList.remove("no-js");
    const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

    function change() {
        const other = prefersDark.matches ? ["light", "dark"] : ["dark", "light"];
        const next = {auto: other[0], [other[0]]: other[1], [other[1]]: "auto"};

        document.body.dataset.theme = next[document.body.dataset.theme] || "auto";
        localStorage.setItem("theme", document.body.dataset.theme);
    }
    for (const button of document.getElementsByClassName("theme-toggle"))
        button.addEventListener("click", change);
});
