// pnetcdf.hpp - pnetcdf.h for C++11 and later: files that a destructor closes, values of any container, and exceptions
// with the sentence of the failure. Nothing else is to be linked than -lpnetcdf.
//
// The functions are those of pnetcdf.h, and collective where those are. Numbers of elements that do not match an
// index are reported by the library, after this rank has taken part in the call: the other ranks do not block.
//
// What is not here is called in C, with the ncid and varid of an object: file_id() and id().
//     pnetcdf::check(ncmpi_def_var_fill(v.file_id(), v.id(), 0, &fill));
#ifndef PNETCDF_HPP
#define PNETCDF_HPP

#include <pnetcdf.h>

#include <cstddef>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pnetcdf
{

// A call has failed. what() has the meaning of the code, the file, the cause and the cure.
class error : public std::runtime_error
{
  public:
    explicit error(int code) : std::runtime_error(ncmpi_strerror(code)), code_(code)
    {
    }
    int code() const noexcept
    {
        return code_;
    }

  private:
    int code_;
};

inline void check(int code)
{
    if (code != NC_NOERR)
        throw error(code);
}

// The external type, the MPI datatype and the functions of a C++ type.
template <class T> struct type_of;
#define PNETCDF_HPP_TYPE(T, suffix, external_type, memory_type)                                  \
    template <> struct type_of<T> {                                                              \
        static nc_type external()                                                                \
        {                                                                                        \
            return external_type;                                                                \
        }                                                                                        \
        static MPI_Datatype memory()                                                             \
        {                                                                                        \
            return memory_type;                                                                  \
        }                                                                                        \
        static int get_att(int ncid, int varid, const char *name, T *out)                        \
        {                                                                                        \
            return ncmpi_get_att_##suffix(ncid, varid, name, out);                               \
        }                                                                                        \
        static int put_att(int ncid, int varid, const char *name, MPI_Offset n, const T *values) \
        {                                                                                        \
            return ncmpi_put_att_##suffix(ncid, varid, name, external(), n, values);             \
        }                                                                                        \
    };
PNETCDF_HPP_TYPE(signed char, schar, NC_BYTE, MPI_SIGNED_CHAR)
PNETCDF_HPP_TYPE(unsigned char, uchar, NC_UBYTE, MPI_UNSIGNED_CHAR)
PNETCDF_HPP_TYPE(short, short, NC_SHORT, MPI_SHORT)
PNETCDF_HPP_TYPE(unsigned short, ushort, NC_USHORT, MPI_UNSIGNED_SHORT)
PNETCDF_HPP_TYPE(int, int, NC_INT, MPI_INT)
PNETCDF_HPP_TYPE(unsigned, uint, NC_UINT, MPI_UNSIGNED)
PNETCDF_HPP_TYPE(long, long, NC_INT64, MPI_LONG)
PNETCDF_HPP_TYPE(long long, longlong, NC_INT64, MPI_LONG_LONG)
PNETCDF_HPP_TYPE(unsigned long long, ulonglong, NC_UINT64, MPI_UNSIGNED_LONG_LONG)
PNETCDF_HPP_TYPE(float, float, NC_FLOAT, MPI_FLOAT)
PNETCDF_HPP_TYPE(double, double, NC_DOUBLE, MPI_DOUBLE)
#undef PNETCDF_HPP_TYPE
// For values of variables only.
template <> struct type_of<char> {
    static nc_type external()
    {
        return NC_CHAR;
    }
    static MPI_Datatype memory()
    {
        return MPI_CHAR;
    }
};
template <> struct type_of<unsigned long> {
    static nc_type external()
    {
        return NC_UINT64;
    }
    static MPI_Datatype memory()
    {
        return MPI_UNSIGNED_LONG;
    }
    // There are no functions for attributes of this type.
    static int get_att(int ncid, int varid, const char *name, unsigned long *out)
    {
        MPI_Offset n = 0;
        int code = ncmpi_inq_attlen(ncid, varid, name, &n);
        std::vector<unsigned long long> values(static_cast<std::size_t>(n));
        if (code == NC_NOERR)
            code = ncmpi_get_att_ulonglong(ncid, varid, name, values.data());
        for (unsigned long long value : values)
            *out++ = static_cast<unsigned long>(value);
        return code;
    }
    static int put_att(int ncid, int varid, const char *name, MPI_Offset n, const unsigned long *values)
    {
        std::vector<unsigned long long> copy(values, values + n);
        return ncmpi_put_att_ulonglong(ncid, varid, name, external(), n, copy.data());
    }
};

// The elements of a container; those of a string can be changed through data() since C++17 only.
template <class Container> auto data_of(Container &container) -> decltype(container.data())
{
    return container.data();
}
inline char *data_of(std::string &text)
{
    return &text[0];
}

// Elements next to each other in memory, as std::span of C++20: made of a container, an array, or a pointer and a size.
template <class T> class span
{
  public:
    span(T *data, std::size_t size) : data_(data), size_(size)
    {
    }
    template <std::size_t N> span(T (&array)[N]) : data_(array), size_(N)
    {
    }
    template <class Container, class = typename std::enable_if<std::is_convertible<
                                   decltype(data_of(std::declval<Container &>())), T *>::value>::type>
    span(Container &container) : data_(data_of(container)), size_(container.size())
    {
    }
    T *data() const
    {
        return data_;
    }
    std::size_t size() const
    {
        return size_;
    }
    T *begin() const
    {
        return data_;
    }
    T *end() const
    {
        return data_ + size_;
    }

  private:
    T *data_;
    std::size_t size_;
};

// The type of the elements of a container or array.
template <class Container>
using element_of = typename std::remove_reference<decltype(*std::begin(std::declval<Container &>()))>::type;
template <class Container> using value_of = typename std::remove_cv<element_of<Container>>::type;

using indices = std::vector<MPI_Offset>;

// What has attributes: a variable, or a file.
class attributes
{
  public:
    // For functions of pnetcdf.h: the ncid, as long as the file is open, and the varid, which is NC_GLOBAL of a file.
    int file_id() const
    {
        return ncid_;
    }
    int id() const
    {
        return id_;
    }

    void put_att(const std::string &name, const std::string &text) const
    {
        check(ncmpi_put_att_text(ncid_, id_, name.c_str(), static_cast<MPI_Offset>(text.size()), text.data()));
    }
    template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
    void put_att(const std::string &name, T value) const
    {
        check(type_of<T>::put_att(ncid_, id_, name.c_str(), 1, &value));
    }
    template <class T> void put_att(const std::string &name, const std::vector<T> &values) const
    {
        check(type_of<T>::put_att(ncid_, id_, name.c_str(), static_cast<MPI_Offset>(values.size()), values.data()));
    }
    std::string get_att_text(const std::string &name) const
    {
        std::string text(att_length(name), '\0');
        check(ncmpi_get_att_text(ncid_, id_, name.c_str(), &text[0]));
        return text;
    }
    template <class T> std::vector<T> get_att(const std::string &name) const
    {
        std::vector<T> values(att_length(name));
        check(type_of<T>::get_att(ncid_, id_, name.c_str(), values.data()));
        return values;
    }

  protected:
    attributes(int ncid, int id) : ncid_(ncid), id_(id)
    {
    }
    std::size_t att_length(const std::string &name) const
    {
        MPI_Offset length = 0;
        check(ncmpi_inq_attlen(ncid_, id_, name.c_str(), &length));
        return static_cast<std::size_t>(length);
    }

    int ncid_, id_;
};

// A variable of an open file. Each function takes the index of the first element and the number of elements along each
// dimension; those that end with _all are collective, the others are for independent data mode.
class variable : public attributes
{
  public:
    variable(int ncid, int id) : attributes(ncid, id)
    {
    }

    template <class C> void put_all(const indices &start, const indices &count, const C &values) const
    {
        span<const value_of<const C>> s(values);
        check(ncmpi_put_vara_all(ncid_, id_, checked(start), checked(count), s.data(),
                                 static_cast<MPI_Offset>(s.size()), memory<C>()));
    }
    template <class C> void get_all(const indices &start, const indices &count, C &&values) const
    {
        span<value_of<C>> s(values);
        check(ncmpi_get_vara_all(ncid_, id_, checked(start), checked(count), s.data(),
                                 static_cast<MPI_Offset>(s.size()), memory<C>()));
    }
    template <class C> void put(const indices &start, const indices &count, const C &values) const
    {
        span<const value_of<const C>> s(values);
        check(ncmpi_put_vara(ncid_, id_, checked(start), checked(count), s.data(), static_cast<MPI_Offset>(s.size()),
                             memory<C>()));
    }
    template <class C> void get(const indices &start, const indices &count, C &&values) const
    {
        span<value_of<C>> s(values);
        check(ncmpi_get_vara(ncid_, id_, checked(start), checked(count), s.data(), static_cast<MPI_Offset>(s.size()),
                             memory<C>()));
    }

    // How a netCDF-4 file stores the variable: collective, in the define mode in which it was defined. On classic files
    // these are NC_ENOTNC4. Without def_chunks, the library chooses the chunks that filters need.
    void def_chunks(const indices &lengths) const // elements along each dimension; 0: the library chooses
    {
        indices all(lengths);
        if (is_short(all))
            all.resize(ndims(), -1); // an error of the call that all ranks make
        check(ncmpi_def_var_chunking(ncid_, id_, NC_CHUNKED, all.data()));
    }
    // Of a Zarr store, after def_chunks: elements of a file of chunks; empty: a file for each chunk.
    void def_shards(const indices &lengths) const
    {
        indices all(lengths);
        if (!all.empty() && is_short(all))
            all.resize(ndims(), -1);
        check(ncmpi_def_var_sharding(ncid_, id_, all.empty() ? nullptr : all.data()));
    }
    void def_contiguous() const
    {
        check(ncmpi_def_var_chunking(ncid_, id_, NC_CONTIGUOUS, nullptr));
    }
    void def_deflate(int level = 1, bool shuffle = true) const
    {
        check(ncmpi_def_var_deflate(ncid_, id_, shuffle, 1, level));
    }
    void def_zstd(int level = 3, bool shuffle = true) const
    {
        if (shuffle)
            check(ncmpi_def_var_deflate(ncid_, id_, 1, 0, 0));
        check(ncmpi_def_var_zstandard(ncid_, id_, level));
    }
    void def_fletcher32() const
    {
        check(ncmpi_def_var_fletcher32(ncid_, id_, NC_FLETCHER32));
    }
    // mode: NC_QUANTIZE_BITGROOM or NC_QUANTIZE_GRANULARBR with decimal digits, NC_QUANTIZE_BITROUND with bits.
    void def_quantize(int mode, int digits) const
    {
        check(ncmpi_def_var_quantize(ncid_, id_, mode, digits));
    }
    // Elements of a chunk along each dimension; empty: the variable is not stored in chunks.
    indices chunks() const
    {
        int storage = NC_CONTIGUOUS;
        indices lengths(ndims());
        check(ncmpi_inq_var_chunking(ncid_, id_, &storage, lengths.data()));
        return storage == NC_CHUNKED ? lengths : indices();
    }

    // Elements of a shard along each dimension; empty: the variable has none.
    indices shards() const
    {
        indices lengths(ndims());
        check(ncmpi_inq_var_sharding(ncid_, id_, lengths.data()));
        return !lengths.empty() && lengths[0] > 0 ? lengths : indices();
    }

    // Lengths of the dimensions; of the record dimension, the number of records.
    indices shape() const
    {
        std::vector<int> dims(ndims());
        indices lengths(dims.size());
        check(ncmpi_inq_vardimid(ncid_, id_, dims.data()));
        for (std::size_t i = 0; i < dims.size(); i++)
            check(ncmpi_inq_dimlen(ncid_, dims[i], &lengths[i]));
        return lengths;
    }

  private:
    template <class C> static MPI_Datatype memory()
    {
        return type_of<value_of<C>>::memory();
    }

    std::size_t ndims() const
    {
        int n = 0;
        check(ncmpi_inq_varndims(ncid_, id_, &n));
        return static_cast<std::size_t>(n);
    }
    // Whether the variable has more dimensions. That there is no such variable is an error of the call of all ranks.
    bool is_short(const indices &numbers) const
    {
        int n = 0;
        return ncmpi_inq_varndims(ncid_, id_, &n) == NC_NOERR && numbers.size() < static_cast<std::size_t>(n);
    }
    // An index with too few numbers becomes NULL, which is an error of the call that all ranks make.
    const MPI_Offset *checked(const indices &numbers) const
    {
        return is_short(numbers) ? nullptr : numbers.data();
    }
};

// An open file. The destructor closes it and ignores errors: call close() to learn of them. Closing is collective.
class file : public attributes
{
  public:
    static file create(MPI_Comm comm, const std::string &path, int mode = NC_CLOBBER | NC_64BIT_DATA,
                       MPI_Info info = MPI_INFO_NULL)
    {
        int ncid = -1;
        check(ncmpi_create(comm, path.c_str(), mode, info, &ncid));
        return file(ncid);
    }
    static file open(MPI_Comm comm, const std::string &path, int mode = NC_NOWRITE, MPI_Info info = MPI_INFO_NULL)
    {
        int ncid = -1;
        check(ncmpi_open(comm, path.c_str(), mode, info, &ncid));
        return file(ncid);
    }
    file(file &&other) noexcept : attributes(other.ncid_, NC_GLOBAL)
    {
        other.ncid_ = -1;
    }
    file &operator=(file &&other) noexcept
    {
        std::swap(ncid_, other.ncid_);
        return *this;
    }
    file(const file &) = delete;
    file &operator=(const file &) = delete;
    // Collective, also after an exception: if that is on one rank only, the others must destroy or abort the file, too.
    ~file()
    {
        if (ncid_ < 0)
            return;
        if (is_unwinding())
            ncmpi_abort(ncid_);
        else
            ncmpi_close(ncid_);
    }
    void close()
    {
        int ncid = ncid_;
        ncid_ = -1;
        check(ncmpi_close(ncid));
    }

    // Ids of dimensions are those of pnetcdf.h.
    int def_dim(const std::string &name, MPI_Offset length) const
    {
        int id = -1;
        check(ncmpi_def_dim(ncid_, name.c_str(), length, &id));
        return id;
    }
    template <class T> variable def_var(const std::string &name, const std::vector<int> &dims) const
    {
        int id = -1;
        check(ncmpi_def_var(ncid_, name.c_str(), type_of<T>::external(), static_cast<int>(dims.size()), dims.data(),
                            &id));
        return variable(ncid_, id);
    }
    void enddef() const
    {
        check(ncmpi_enddef(ncid_));
    }
    void redef() const
    {
        check(ncmpi_redef(ncid_));
    }
    void begin_indep_data() const
    {
        check(ncmpi_begin_indep_data(ncid_));
    }
    void end_indep_data() const
    {
        check(ncmpi_end_indep_data(ncid_));
    }
    void sync() const
    {
        check(ncmpi_sync(ncid_));
    }

    variable var(const std::string &name) const
    {
        int id = -1;
        check(ncmpi_inq_varid(ncid_, name.c_str(), &id));
        return variable(ncid_, id);
    }
    MPI_Offset dim_length(const std::string &name) const
    {
        MPI_Offset length = 0;
        int id = -1;
        check(ncmpi_inq_dimid(ncid_, name.c_str(), &id));
        check(ncmpi_inq_dimlen(ncid_, id, &length));
        return length;
    }

  private:
    explicit file(int ncid) : attributes(ncid, NC_GLOBAL)
    {
    }
    static bool is_unwinding()
    {
#if __cplusplus >= 201703L
        return std::uncaught_exceptions() > 0;
#else
        return std::uncaught_exception();
#endif
    }
};

} // namespace pnetcdf

#endif
