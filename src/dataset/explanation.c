/* The text of a code and the sentence of a failure as one text. */
#include "dataset/explanation.h"

#include <stdio.h>
#include <string.h>

static void join_lines(char *text)
{
    for (char *newline = text; (newline = strchr(newline, '\n')) != NULL;)
        *newline = ';';
}

void pnc_dataset_explanation_print(const pnc_failure *failure, const char *meaning, char *out, size_t capacity)
{
    snprintf(out, capacity, "%s: %.*s", meaning, failure->sentence_length, failure->message + failure->sentence);
    join_lines(out);
}

/* Without the name of the file before it, and with other words for the name in it. */
static void copy_without_path(const pnc_failure *f, char *out, size_t capacity)
{
    const char *sentence = f->message + f->sentence, *end = sentence + f->sentence_length;
    const char *path = f->message + f->path, *rest = path + f->path_length;

    if (f->path_length == 0)
        rest = sentence;
    else if (path == sentence && end - rest >= 2 && memcmp(rest, ": ", 2) == 0)
        rest += 2;
    else {
        int used = snprintf(out, capacity, "%.*sthe file", (int)(path - sentence), sentence);

        out += used;
        capacity -= (size_t)used;
    }
    snprintf(out, capacity, "%.*s", (int)(end - rest), rest);
    join_lines(out);
}

/* The length of the longest beginning that has at most `most` characters and ends where the sentence has a comma, a
 * colon or a semicolon. */
static size_t find_end_of_part(const char *text, size_t most)
{
    while (most > 0 && !(strchr(",:;", text[most]) != NULL && text[most + 1] == ' '))
        most--;
    return most;
}

static void cut(char *text, size_t most)
{
    size_t end;

    if (strlen(text) <= most)
        return;
    end = find_end_of_part(text, most);
    if (end < most * 5 / 8) { /* too much would be missing */
        for (end = most - 3; end > 0 && text[end] != ' ';)
            end--;
        memcpy(text + end, "...", 3);
        end += 3;
    }
    text[end] = '\0';
}

void pnc_dataset_explanation_truncate(const pnc_failure *failure, const char *meaning, char *out, size_t capacity)
{
    char sentence[NC_MAX_MESSAGE + 16]; /* with "the file" for a shorter name */

    copy_without_path(failure, sentence, sizeof sentence);
    if (strlen(meaning) + 2 + strlen(sentence) < capacity) {
        snprintf(out, capacity, "%s: %s", meaning, sentence);
        return;
    }
    cut(sentence, capacity - 1);
    strcpy(out, sentence);
}
