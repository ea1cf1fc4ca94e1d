m4_include(`common.m4')m4_include([types.m4])m4_include([errors.m4])m4_include([families.m4])m4_dnl
m4_dnl Brackets quote here: [[ and ]] write brackets.
// pnetcdf - classes for C++11 and later, in the namespace PnetCDF: #include <pnetcdf>, and link with -lpnetcdf.
// Generated from src/spec. pnetcdf.hpp has another interface to the same functions, shorter and newer.
//
// The functions are those of pnetcdf.h, and collective where those are: names that end in _all, and all definitions.
// Others that access data need independent data mode (Begin_indep_data). A function that defines something enters
// define mode if the file is in data mode. Collective access, Wait_all and Begin_indep_data end it, so that programs
// need no enddef. Requests may be posted in either mode. A call that fails throws an exception of the namespace
// PnetCDF::exceptions; what() has the meaning, the cause and the cure.
//
// A file has one group, its root, and no types of its users: what would add one throws exceptions::NcNotNc4.
#ifndef PNETCDF_CXX_INCLUDED
#define PNETCDF_CXX_INCLUDED

#include <pnetcdf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace PnetCDF
{

namespace exceptions
{

class NcmpiException : public std::exception
{
  public:
    NcmpiException(const char *complaint, const char *fileName, int lineNumber)
        : NcmpiException(0, complaint, fileName, lineNumber)
    {
    }
    NcmpiException(int errorCode, const char *complaint, const char *fileName, int lineNumber)
        : text(complaint == nullptr ? "" : complaint), code(errorCode)
    {
        if (fileName != nullptr && *fileName != '\0')
            text += std::string("\nfile: ") + fileName + "  line:" + std::to_string(lineNumber);
    }
    NcmpiException(const NcmpiException &) = default;
    NcmpiException &operator=(const NcmpiException &) = default;
    virtual ~NcmpiException() noexcept
    {
    }
    const char *what() const noexcept override
    {
        return text.c_str();
    }
    // A code of pnetcdf.h, or 0.
    int errorCode() const noexcept
    {
        return code;
    }

  private:
    std::string text;
    int code;
};

m4_divert(-1)
m4_define([EXCEPTIONS], [
EXCEPTION(NcBadId, NC_EBADID)
EXCEPTION(NcNFile, NC_ENFILE)
EXCEPTION(NcExist, NC_EEXIST)
EXCEPTION(NcInvalidArg, NC_EINVAL)
EXCEPTION(NcInvalidWrite, NC_EPERM)
EXCEPTION(NcNotInDefineMode, NC_ENOTINDEFINE)
EXCEPTION(NcInDefineMode, NC_EINDEFINE)
EXCEPTION(NcInvalidCoords, NC_EINVALCOORDS)
EXCEPTION(NcMaxDims, NC_EMAXDIMS)
EXCEPTION(NcNameInUse, NC_ENAMEINUSE)
EXCEPTION(NcNotAtt, NC_ENOTATT)
EXCEPTION(NcMaxAtts, NC_EMAXATTS)
EXCEPTION(NcBadType, NC_EBADTYPE)
EXCEPTION(NcBadDim, NC_EBADDIM)
EXCEPTION(NcUnlimPos, NC_EUNLIMPOS)
EXCEPTION(NcMaxVars, NC_EMAXVARS)
EXCEPTION(NcNotVar, NC_ENOTVAR)
EXCEPTION(NcGlobal, NC_EGLOBAL)
EXCEPTION(NcNotNCF, NC_ENOTNC)
EXCEPTION(NcSts, NC_ESTS)
EXCEPTION(NcMaxName, NC_EMAXNAME)
EXCEPTION(NcUnlimit, NC_EUNLIMIT)
EXCEPTION(NcNoRecVars, NC_ENORECVARS)
EXCEPTION(NcmpiChar, NC_ECHAR)
EXCEPTION(NcEdge, NC_EEDGE)
EXCEPTION(NcStride, NC_ESTRIDE)
EXCEPTION(NcBadName, NC_EBADNAME)
EXCEPTION(NcRange, NC_ERANGE)
EXCEPTION(NcNoMem, NC_ENOMEM)
EXCEPTION(NcmpiVarSize, NC_EVARSIZE)
EXCEPTION(NcmpiDimSize, NC_EDIMSIZE)
EXCEPTION(NcTrunc, NC_ETRUNC)
EXCEPTION(NcHdfErr, NC_EHDFERR)
EXCEPTION(NcCantRead, NC_ECANTREAD)
EXCEPTION(NcCantWrite, NC_ECANTWRITE)
EXCEPTION(NcCantCreate, NC_ECANTCREATE)
EXCEPTION(NcmpiFileMeta, NC_EFILEMETA)
EXCEPTION(NcmpiDimMeta, NC_EDIMMETA)
EXCEPTION(NcmpiAttMeta, NC_EATTMETA)
EXCEPTION(NcmpiVarMeta, NC_EVARMETA)
EXCEPTION(NcNoCompound, NC_ENOCOMPOUND)
EXCEPTION(NcmpiAttExists, NC_EATTEXISTS)
EXCEPTION(NcNotNc4, NC_ENOTNC4)
EXCEPTION(NcStrictNc3, NC_ESTRICTNC3)
EXCEPTION(NcBadGroupId, NC_EBADGRPID)
EXCEPTION(NcBadTypeId, NC_EBADTYPID)
EXCEPTION(NcBadFieldId, NC_EBADFIELD)
EXCEPTION(NcUnknownName)
EXCEPTION(NcEnoGrp, NC_ENOGRP)
EXCEPTION(NcNullGrp)
EXCEPTION(NcNullType)
EXCEPTION(NcNullDim)
EXCEPTION(NcElateDef, NC_ELATEDEF)])
m4_define([EXCEPTION], [OUTPUT([class $1 : public NcmpiException
{
  public:
    $1(const char *complaint, const char *file, int line)
        : NcmpiException(m4_ifelse([$2], [], [0], [$2]), complaint, file, line)
    {
    }
};
])])
EXCEPTIONS
m4_divert(0)m4_dnl

} // namespace exceptions

// Throws the exception of an error code.
inline void ncmpiCheck(int retCode, const char *file = "", int line = 0)
{
    if (retCode == NC_NOERR)
        return;
    const char *text = ncmpi_strerror(retCode);
    switch (retCode) {
m4_divert(-1)
m4_define([EXCEPTION], [m4_ifelse([$2], [], [], [OUTPUT([    case $2:
        throw exceptions::$1(text, file, line);
])])])
EXCEPTIONS
m4_divert(0)m4_dnl
    default:
        throw exceptions::NcmpiException(retCode, text, file, line);
    }
}

namespace detail
{

// If a call failed with this code because the file is in the other mode, change that. Whether the call is to be made
// again; if not, code has the error. All ranks are in the same mode, and take part.
inline bool change_mode(int *code, int wrong, int (*change)(int), int ncid)
{
    if (*code != wrong)
        return false;
    *code = change(ncid);
    return *code == NC_NOERR;
}

// Single values of pending puts (iputVar with a value): they must stay until the request completes.
class pending_values
{
  public:
    template <class T> static const T *keep(int ncid, T value)
    {
        std::lock_guard<std::mutex> guard(lock());
        std::deque<cell> &values = of_file()[[ncid]];
        values.push_back(cell());
        std::memcpy(&values.back(), &value, sizeof value);
        return reinterpret_cast<const T *>(&values.back());
    }
    static void drop_completed(int ncid)
    {
        int pending = 0;
        if (ncmpi_inq_nreqs(ncid, &pending) == NC_NOERR && pending == 0)
            drop(ncid);
    }
    static void drop(int ncid)
    {
        std::lock_guard<std::mutex> guard(lock());
        of_file().erase(ncid);
    }

  private:
    struct alignas(8) cell {
        unsigned char bytes[[8]];
    };
    static std::map<int, std::deque<cell>> &of_file()
    {
        static std::map<int, std::deque<cell>> values;
        return values;
    }
    static std::mutex &lock()
    {
        static std::mutex m;
        return m;
    }
};

} // namespace detail

#define PNETCDF_CXX_CALL(ncid, wrong, change, call)                 \
    do {                                                            \
        int code_ = call;                                           \
        if (detail::change_mode(&code_, wrong, change, ncid))       \
            code_ = call;                                           \
        ncmpiCheck(code_);                                          \
    } while (0)
// A definition enters define mode, and a collective access ends it.
#define PNETCDF_CXX_DEFINE(ncid, call) PNETCDF_CXX_CALL(ncid, NC_ENOTINDEFINE, ncmpi_redef, call)
#define PNETCDF_CXX_ACCESS(ncid, call) PNETCDF_CXX_CALL(ncid, NC_EINDEFINE, ncmpi_enddef, call)

class NcmpiDim;
class NcmpiVar;
class NcmpiGroup;
class NcmpiGroupAtt;
class NcmpiVarAtt;

// The type of values in a file.
class NcmpiType
{
  public:
    enum ncmpiType {
        ncmpi_BYTE = NC_BYTE,
        ncmpi_CHAR = NC_CHAR,
        ncmpi_SHORT = NC_SHORT,
        ncmpi_INT = NC_INT,
        ncmpi_FLOAT = NC_FLOAT,
        ncmpi_DOUBLE = NC_DOUBLE,
        ncmpi_UBYTE = NC_UBYTE,
        ncmpi_USHORT = NC_USHORT,
        ncmpi_UINT = NC_UINT,
        ncmpi_INT64 = NC_INT64,
        ncmpi_UINT64 = NC_UINT64,
        ncmpi_STRING = NC_STRING,
        ncmpi_VLEN = NC_VLEN,
        ncmpi_OPAQUE = NC_OPAQUE,
        ncmpi_ENUM = NC_ENUM,
        ncmpi_COMPOUND = NC_COMPOUND
    };

    NcmpiType() : nullObject(true), myId(NC_NAT)
    {
    }
    NcmpiType(const PnetCDF::NcmpiGroup &grp, const std::string &name);
    NcmpiType(const PnetCDF::NcmpiGroup &grp, nc_type id);
    NcmpiType(nc_type id) : nullObject(false), myId(id)
    {
    }
    NcmpiType(const NcmpiType &) = default;
    NcmpiType &operator=(const NcmpiType &) = default;
    virtual ~NcmpiType()
    {
    }
    bool operator==(const NcmpiType &rhs) const
    {
        return nullObject ? rhs.nullObject : !rhs.nullObject && myId == rhs.myId;
    }
    bool operator!=(const NcmpiType &rhs) const
    {
        return !(*this == rhs);
    }
    friend bool operator<(const NcmpiType &lhs, const NcmpiType &rhs)
    {
        return lhs.myId < rhs.myId;
    }
    friend bool operator>(const NcmpiType &lhs, const NcmpiType &rhs)
    {
        return rhs < lhs;
    }

    nc_type getId() const
    {
        return myId;
    }
    // Null: the types of netCDF belong to no file.
    PnetCDF::NcmpiGroup getParentGroup() const;
    std::string getName() const
    {
        return row().name;
    }
    MPI_Offset getSize() const
    {
        return row().size;
    }
    ncmpiType getTypeClass() const
    {
        return static_cast<ncmpiType>(row().id);
    }
    std::string getTypeClassName() const
    {
        return row().className;
    }
    bool isNull() const
    {
        return nullObject;
    }

  protected:
    struct Row {
        nc_type id;
        const char *name, *className;
        MPI_Offset size;
    };
    static const Row *rows()
    {
        static const Row all[[]] = {
m4_divert(-1)
m4_define([XTYPE], [OUTPUT([            {$1, "$3", "ncmpi_[]m4_UP([$3])", $2},
])])
XTYPES
m4_divert(0)m4_dnl
            {NC_NAT, nullptr, nullptr, 0}};
        return all;
    }
    const Row &row() const
    {
        const Row *found = rows();
        while (found->name != nullptr && found->id != myId)
            found++;
        if (found->name == nullptr)
            throw exceptions::NcNullType("the type is null, or none of netCDF", "", 0);
        return *found;
    }
    bool nullObject;
    nc_type myId;

    friend class NcmpiGroup;
};

m4_divert(-1)
m4_dnl CXX_TYPE(class, constant, XTYPE)
m4_define([CXX_TYPES], [
CXX_TYPE(Byte, NC_BYTE)
CXX_TYPE(Ubyte, NC_UBYTE)
CXX_TYPE(Char, NC_CHAR)
CXX_TYPE(Short, NC_SHORT)
CXX_TYPE(Ushort, NC_USHORT)
CXX_TYPE(Int, NC_INT)
CXX_TYPE(Uint, NC_UINT)
CXX_TYPE(Int64, NC_INT64)
CXX_TYPE(Uint64, NC_UINT64)
CXX_TYPE(Float, NC_FLOAT)
CXX_TYPE(Double, NC_DOUBLE)])
m4_define([CXX_TYPE], [OUTPUT([class Ncmpi$1 : public NcmpiType
{
  public:
    Ncmpi$1() : NcmpiType($2)
    {
    }
    bool operator==(const Ncmpi$1 &) const
    {
        return true;
    }
    using NcmpiType::operator==;
m4_ifelse([$1], [Byte], [    int sizeoff() const
    {
        return 1;
    }
])};
const Ncmpi$1 ncmpi$1;

])])
CXX_TYPES
m4_dnl Types of users: no file has one. An object is null; its other constructors and functions throw.
m4_define([USER_TYPE], [m4_dnl
    Ncmpi$1Type()
    {
    }
    Ncmpi$1Type(const NcmpiGroup &, const std::string &)
    {
        detail::no_user_types();
    }
    Ncmpi$1Type(const NcmpiType &type) : NcmpiType(type)
    {
        if (!nullObject)
            detail::no_user_types();
    }
    Ncmpi$1Type(const Ncmpi$1Type &) = default;
    Ncmpi$1Type &operator=(const Ncmpi$1Type &) = default;
    Ncmpi$1Type &operator=(const NcmpiType &rhs)
    {
        return *this = Ncmpi$1Type(rhs);
    }])
m4_divert(0)m4_dnl
namespace detail
{
[[[noreturn]]] inline void no_user_types()
{
    ncmpiCheck(NC_ENOTNC4);
    std::terminate();
}
} // namespace detail

class NcmpiEnumType : public NcmpiType
{
  public:
    enum ncmpiEnumType {
        ncmpi_BYTE = NC_BYTE,
        ncmpi_SHORT = NC_SHORT,
        ncmpi_INT = NC_INT,
        ncmpi_UBYTE = NC_UBYTE,
        ncmpi_USHORT = NC_USHORT,
        ncmpi_UINT = NC_UINT,
        ncmpi_INT64 = NC_INT64,
        ncmpi_UINT64 = NC_UINT64
    };
USER_TYPE(Enum)
    template <class T> void addMember(const std::string &, T)
    {
        detail::no_user_types();
    }
    MPI_Offset getMemberCount() const
    {
        detail::no_user_types();
    }
    std::string getMemberNameFromIndex(int) const
    {
        detail::no_user_types();
    }
    template <class T> std::string getMemberNameFromValue(const T) const
    {
        detail::no_user_types();
    }
    template <class T> void getMemberValue(int, T &) const
    {
        detail::no_user_types();
    }
    NcmpiType getBaseType() const
    {
        detail::no_user_types();
    }
};

class NcmpiVlenType : public NcmpiType
{
  public:
USER_TYPE(Vlen)
    NcmpiType getBaseType() const
    {
        detail::no_user_types();
    }
};

class NcmpiOpaqueType : public NcmpiType
{
  public:
USER_TYPE(Opaque)
    MPI_Offset getTypeSize() const
    {
        detail::no_user_types();
    }
};

class NcmpiCompoundType : public NcmpiType
{
  public:
USER_TYPE(Compound)
    bool operator==(const NcmpiCompoundType &rhs) const
    {
        return NcmpiType::operator==(rhs);
    }
    using NcmpiType::operator==;
    void addMember(const std::string &, const NcmpiType &, MPI_Offset)
    {
        detail::no_user_types();
    }
    void addMember(const std::string &, const NcmpiType &, MPI_Offset, const std::vector<int> &)
    {
        detail::no_user_types();
    }
    MPI_Offset getMemberCount() const
    {
        detail::no_user_types();
    }
    NcmpiType getMember(int) const
    {
        detail::no_user_types();
    }
    MPI_Offset getMemberOffset(const int) const
    {
        detail::no_user_types();
    }
    int getMemberDimCount(int) const
    {
        detail::no_user_types();
    }
    std::vector<int> getMemberShape(int) const
    {
        detail::no_user_types();
    }
};

// A file, as the group that is its root.
class NcmpiGroup
{
  public:
    enum GroupLocation {
        ChildrenGrps,
        ParentsGrps,
        ChildrenOfChildrenGrps,
        AllChildrenGrps,
        ParentsAndCurrentGrps,
        AllGrps
    };
    enum Location { Current, Parents, Children, ParentsAndCurrent, ChildrenAndCurrent, All };

    NcmpiGroup() : nullObject(true), myId(-1)
    {
    }
    NcmpiGroup(int groupId) : nullObject(false), myId(groupId)
    {
    }
    NcmpiGroup(const NcmpiGroup &) = default;
    NcmpiGroup &operator=(const NcmpiGroup &) = default;
    virtual ~NcmpiGroup()
    {
    }
    bool operator==(const NcmpiGroup &rhs) const
    {
        return nullObject ? rhs.nullObject : !rhs.nullObject && myId == rhs.myId;
    }
    bool operator!=(const NcmpiGroup &rhs) const
    {
        return !(*this == rhs);
    }
    friend bool operator<(const NcmpiGroup &lhs, const NcmpiGroup &rhs)
    {
        return lhs.myId < rhs.myId;
    }
    friend bool operator>(const NcmpiGroup &lhs, const NcmpiGroup &rhs)
    {
        return rhs < lhs;
    }

    std::string getName(bool fullName = false) const;
    NcmpiGroup getParentGroup() const;
    int getId() const; // an ncid of pnetcdf.h
    int getGroupCount(NcmpiGroup::GroupLocation location = ChildrenGrps) const;
    std::multimap<std::string, NcmpiGroup> getGroups(NcmpiGroup::GroupLocation location = ChildrenGrps) const;
    std::set<NcmpiGroup> getGroups(const std::string &name, NcmpiGroup::GroupLocation location = ChildrenGrps) const;
    NcmpiGroup getGroup(const std::string &name, NcmpiGroup::GroupLocation location = ChildrenGrps) const;
    NcmpiGroup addGroup(const std::string &name) const;
    bool isNull() const
    {
        return nullObject;
    }
    bool isRootGroup() const;

    int getVarCount(NcmpiGroup::Location location = Current) const;
    int getRecVarCount(NcmpiGroup::Location location = Current) const;
    MPI_Offset getRecSize(NcmpiGroup::Location location = Current) const;
    int getFixVarCount(NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiVar> getVars(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiVar> getVars(const std::string &name, NcmpiGroup::Location location = Current) const;
    NcmpiVar getVar(const std::string &name, NcmpiGroup::Location location = Current) const; // null if there is none
    NcmpiVar addVar(const std::string &name, const NcmpiType &ncmpiType) const;
    NcmpiVar addVar(const std::string &name, const std::string &typeName, const std::string &dimName) const;
    NcmpiVar addVar(const std::string &name, const NcmpiType &ncmpiType, const NcmpiDim &ncmpiDim) const;
    NcmpiVar addVar(const std::string &name, const std::string &typeName,
                    const std::vector<std::string> &dimNames) const;
    NcmpiVar addVar(const std::string &name, const NcmpiType &ncmpiType,
                    const std::vector<NcmpiDim> &ncmpiDimVector) const;

    int getAttCount(NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiGroupAtt> getAtts(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiGroupAtt> getAtts(const std::string &name, NcmpiGroup::Location location = Current) const;
    NcmpiGroupAtt getAtt(const std::string &name, NcmpiGroup::Location location = Current) const; // null if none
    NcmpiGroupAtt putAtt(const std::string &name, MPI_Offset len, const char **dataValues) const;
    NcmpiGroupAtt putAtt(const std::string &name, const std::string &dataValues) const;
m4_divert(-1)
m4_dnl Values are passed as such, but characters: their types are those of texts.
m4_define([BY_VALUE], [m4_ifelse([$1], [text], [], [$1], [schar], [], [$1], [uchar], [], [$2])])
m4_define([MEMTYPE], [BY_VALUE([$1], [OUTPUT([m4_dnl
    ATT_CLASS putAtt(const std::string &name, const NcmpiType &type, $2 datumValue) const;
])])m4_ifelse([$1], [text], [], [OUTPUT([m4_dnl
    ATT_CLASS putAtt(const std::string &name, const NcmpiType &type, MPI_Offset len, const $2 *dataValues) const;
])])])
m4_define([ATT_CLASS], [NcmpiGroupAtt])
MEMTYPES
m4_divert(0)m4_dnl
    NcmpiGroupAtt putAtt(const std::string &name, const NcmpiType &type, MPI_Offset len, const void *dataValues) const;

    int getDimCount(NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiDim> getDims(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiDim> getDims(const std::string &name, NcmpiGroup::Location location = Current) const;
    NcmpiDim getDim(const std::string &name, NcmpiGroup::Location location = Current) const; // null if there is none
    NcmpiDim addDim(const std::string &name, MPI_Offset dimSize) const;
    NcmpiDim addDim(const std::string &name) const; // the unlimited one

    // Types of users: a file has none. getType finds those of netCDF by their names in CDL ("int", "double" ..).
    int getTypeCount(NcmpiGroup::Location location = Current) const;
    int getTypeCount(NcmpiType::ncmpiType enumType, NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiType> getTypes(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiType> getTypes(const std::string &name, NcmpiGroup::Location location = Current) const;
    std::set<NcmpiType> getTypes(NcmpiType::ncmpiType enumType, NcmpiGroup::Location location = Current) const;
    std::set<NcmpiType> getTypes(const std::string &name, NcmpiType::ncmpiType enumType,
                                 NcmpiGroup::Location location = Current) const;
    NcmpiType getType(const std::string &name, NcmpiGroup::Location location = Current) const; // null if there is none
    NcmpiEnumType addEnumType(const std::string &name, NcmpiEnumType::ncmpiEnumType basetype) const;
    NcmpiVlenType addVlenType(const std::string &name, NcmpiType &basetype) const;
    NcmpiOpaqueType addOpaqueType(const std::string &name, MPI_Offset size) const;
    NcmpiCompoundType addCompoundType(const std::string &name, MPI_Offset size) const;

  protected:
    static bool isHere(Location location)
    {
        return location != Parents && location != Children;
    }
    bool nullObject;
    int myId;
};

// A dimension of a file. A default one is null.
class NcmpiDim
{
  public:
    NcmpiDim() : nullObject(true), myId(-1), groupId(-1)
    {
    }
    NcmpiDim(const NcmpiGroup &grp, int dimId) : nullObject(false), myId(dimId), groupId(grp.getId())
    {
    }
    bool operator==(const NcmpiDim &rhs) const
    {
        return nullObject ? rhs.nullObject : !rhs.nullObject && myId == rhs.myId && groupId == rhs.groupId;
    }
    bool operator!=(const NcmpiDim &rhs) const
    {
        return !(*this == rhs);
    }
    friend bool operator<(const NcmpiDim &lhs, const NcmpiDim &rhs)
    {
        return lhs.groupId != rhs.groupId ? lhs.groupId < rhs.groupId : lhs.myId < rhs.myId;
    }
    friend bool operator>(const NcmpiDim &lhs, const NcmpiDim &rhs)
    {
        return rhs < lhs;
    }
    const std::string getName() const
    {
        std::vector<char> name(NC_MAX_NAME + 1);
        ncmpiCheck(ncmpi_inq_dimname(file(), myId, name.data()));
        return name.data();
    }
    int getId() const
    {
        return myId;
    }
    NcmpiGroup getParentGroup() const
    {
        return NcmpiGroup(file());
    }
    bool isUnlimited() const
    {
        int n = 0;
        ncmpiCheck(ncmpi_inq_unlimdims(file(), &n, nullptr));
        std::vector<int> ids(static_cast<std::size_t>(n));
        ncmpiCheck(ncmpi_inq_unlimdims(file(), &n, ids.data()));
        return std::find(ids.begin(), ids.end(), myId) != ids.end();
    }
    MPI_Offset getSize() const
    {
        MPI_Offset size = 0;
        ncmpiCheck(ncmpi_inq_dimlen(file(), myId, &size));
        return size;
    }
    void rename(const std::string &newName)
    {
        PNETCDF_CXX_DEFINE(file(), ncmpi_rename_dim(file(), myId, newName.c_str()));
    }
    bool isNull() const
    {
        return nullObject;
    }

  private:
    int file() const
    {
        if (nullObject)
            throw exceptions::NcNullDim("the dimension is null", "", 0);
        return groupId;
    }
    bool nullObject;
    int myId, groupId;
};

// An attribute of a file (NcmpiGroupAtt) or variable (NcmpiVarAtt). A default one is null.
class NcmpiAtt
{
  public:
    virtual ~NcmpiAtt() = 0;
    NcmpiAtt() : NcmpiAtt(true)
    {
    }
    NcmpiAtt(bool isNullObject) : nullObject(isNullObject), groupId(-1), varId(NC_GLOBAL)
    {
    }
    NcmpiAtt(const NcmpiAtt &) = default;
    NcmpiAtt &operator=(const NcmpiAtt &) = default;
    std::string getName() const
    {
        return myName;
    }
    MPI_Offset getAttLength() const
    {
        MPI_Offset length = 0;
        ncmpiCheck(ncmpi_inq_attlen(groupId, varId, myName.c_str(), &length));
        return length;
    }
    NcmpiType getType() const
    {
        nc_type type = NC_NAT;
        ncmpiCheck(ncmpi_inq_atttype(groupId, varId, myName.c_str(), &type));
        return NcmpiType(type);
    }
    NcmpiGroup getParentGroup() const
    {
        return nullObject ? NcmpiGroup() : NcmpiGroup(groupId);
    }
    bool operator==(const NcmpiAtt &rhs) const
    {
        return nullObject ? rhs.nullObject
                          : !rhs.nullObject && myName == rhs.myName && groupId == rhs.groupId && varId == rhs.varId;
    }
    bool operator!=(const NcmpiAtt &rhs) const
    {
        return !(*this == rhs);
    }
    friend bool operator<(const NcmpiAtt &lhs, const NcmpiAtt &rhs)
    {
        return lhs.groupId != rhs.groupId ? lhs.groupId < rhs.groupId
               : lhs.varId != rhs.varId   ? lhs.varId < rhs.varId
                                          : lhs.myName < rhs.myName;
    }
    friend bool operator>(const NcmpiAtt &lhs, const NcmpiAtt &rhs)
    {
        return rhs < lhs;
    }

    // All values, converted to the type in memory; void: in the type of the attribute.
m4_divert(-1)
m4_define([MEMTYPE], [OUTPUT([    void getValues($2 *dataValues) const
    {
        ncmpiCheck(ncmpi_get_att_$1(groupId, varId, myName.c_str(), dataValues));
    }
])])
MEMTYPES
m4_divert(0)m4_dnl
    void getValues(char **) const
    {
        ncmpiCheck(NC_ENOTNC4); // arrays of strings
    }
    void getValues(std::string &dataValues) const
    {
        std::string text(static_cast<std::size_t>(getAttLength()), '\0');
        getValues(&text.front());
        dataValues.swap(text);
    }
    void getValues(void *dataValues) const
    {
        ncmpiCheck(ncmpi_get_att(groupId, varId, myName.c_str(), dataValues));
    }
    bool isNull() const
    {
        return nullObject;
    }

  protected:
    void find(int ncid, int varid, int index)
    {
        std::vector<char> name(NC_MAX_NAME + 1);
        ncmpiCheck(ncmpi_inq_attname(ncid, varid, index, name.data()));
        nullObject = false;
        myName = name.data();
        groupId = ncid;
        varId = varid;
    }
    bool nullObject;
    std::string myName;
    int groupId, varId;
};

inline NcmpiAtt::~NcmpiAtt()
{
}

class NcmpiGroupAtt : public NcmpiAtt
{
  public:
    NcmpiGroupAtt()
    {
    }
    NcmpiGroupAtt(const NcmpiGroup &grp, const int index)
    {
        find(grp.getId(), NC_GLOBAL, index);
    }
    bool operator==(const NcmpiGroupAtt &rhs) const
    {
        return NcmpiAtt::operator==(rhs);
    }
    using NcmpiAtt::operator==;
};

class NcmpiVarAtt : public NcmpiAtt
{
  public:
    NcmpiVarAtt()
    {
    }
    NcmpiVarAtt(const NcmpiGroup &grp, const NcmpiVar &ncmpiVar, const int index);
    NcmpiVar getParentVar() const;
};

// A variable of a file. A default one is null.
//
// getVar and putVar access all values; with index one; with start and count a hyperslab, whose elements are stride
// apart in the file and imap apart in memory. A vector with too few elements is an error of the call, in which the rank
// has taken part.
class NcmpiVar
{
  public:
    enum ChunkMode { ncmpi_CHUNKED = NC_CHUNKED, ncmpi_CONTIGUOUS = NC_CONTIGUOUS };
    enum EndianMode {
        ncmpi_ENDIAN_NATIVE = NC_ENDIAN_NATIVE,
        ncmpi_ENDIAN_LITTLE = NC_ENDIAN_LITTLE,
        ncmpi_ENDIAN_BIG = NC_ENDIAN_BIG
    };
    enum ChecksumMode { ncmpi_NOCHECKSUM = NC_NOCHECKSUM, ncmpi_FLETCHER32 = NC_FLETCHER32 };

    NcmpiVar() : nullObject(true), myId(-1), groupId(-1)
    {
    }
    NcmpiVar(const NcmpiGroup &grp, const int &varId) : nullObject(false), myId(varId), groupId(grp.getId())
    {
    }
    bool operator==(const NcmpiVar &rhs) const
    {
        return nullObject ? rhs.nullObject : !rhs.nullObject && myId == rhs.myId && groupId == rhs.groupId;
    }
    bool operator!=(const NcmpiVar &rhs) const
    {
        return !(*this == rhs);
    }
    friend bool operator<(const NcmpiVar &lhs, const NcmpiVar &rhs)
    {
        return lhs.groupId != rhs.groupId ? lhs.groupId < rhs.groupId : lhs.myId < rhs.myId;
    }
    friend bool operator>(const NcmpiVar &lhs, const NcmpiVar &rhs)
    {
        return rhs < lhs;
    }
    std::string getName() const
    {
        std::vector<char> name(NC_MAX_NAME + 1);
        ncmpiCheck(ncmpi_inq_varname(groupId, myId, name.data()));
        return name.data();
    }
    NcmpiGroup getParentGroup() const
    {
        return nullObject ? NcmpiGroup() : NcmpiGroup(groupId);
    }
    NcmpiType getType() const
    {
        nc_type type = NC_NAT;
        ncmpiCheck(ncmpi_inq_vartype(groupId, myId, &type));
        return NcmpiType(type);
    }
    void rename(const std::string &newname) const
    {
        PNETCDF_CXX_DEFINE(groupId, ncmpi_rename_var(groupId, myId, newname.c_str()));
    }
    int getId() const
    {
        return myId;
    }
    bool isNull() const
    {
        return nullObject;
    }
    int getDimCount() const
    {
        int n = 0;
        ncmpiCheck(ncmpi_inq_varndims(groupId, myId, &n));
        return n;
    }
    NcmpiDim getDim(int i) const
    {
        std::vector<NcmpiDim> dims = getDims();
        if (i < 0 || static_cast<std::size_t>(i) >= dims.size())
            ncmpiCheck(NC_EBADDIM);
        return dims.at(static_cast<std::size_t>(i));
    }
    std::vector<NcmpiDim> getDims() const
    {
        std::vector<int> ids(static_cast<std::size_t>(getDimCount()));
        ncmpiCheck(ncmpi_inq_vardimid(groupId, myId, ids.data()));
        std::vector<NcmpiDim> dims;
        for (std::size_t i = 0; i < ids.size(); i++)
            dims.push_back(NcmpiDim(NcmpiGroup(groupId), ids.at(i)));
        return dims;
    }

    int getAttCount() const
    {
        int n = 0;
        ncmpiCheck(ncmpi_inq_varnatts(groupId, myId, &n));
        return n;
    }
    NcmpiVarAtt getAtt(const std::string &name) const
    {
        int index = 0;
        ncmpiCheck(ncmpi_inq_attid(groupId, myId, name.c_str(), &index));
        return NcmpiVarAtt(NcmpiGroup(groupId), *this, index);
    }
    std::map<std::string, NcmpiVarAtt> getAtts() const
    {
        std::map<std::string, NcmpiVarAtt> atts;
        for (int i = 0, n = getAttCount(); i < n; i++) {
            NcmpiVarAtt att(NcmpiGroup(groupId), *this, i);
            atts.insert(std::make_pair(att.getName(), att));
        }
        return atts;
    }
    NcmpiVarAtt putAtt(const std::string &name, const std::string &dataValues) const
    {
        PNETCDF_CXX_DEFINE(groupId, ncmpi_put_att_text(groupId, myId, name.c_str(),
                                                       static_cast<MPI_Offset>(dataValues.size()), dataValues.data()));
        return getAtt(name);
    }
m4_divert(-1)
m4_dnl PUT_ATTS(class of the attribute, scope, ncid, varid): definitions of putAtt for each type. PUT_ATT has those, the
m4_dnl suffix of the C function, the parameters and the arguments.
m4_define([PUT_ATT], [$3 $4putAtt(const std::string &name, const NcmpiType &type, $5) const
{
    PNETCDF_CXX_DEFINE($6, ncmpi_put_att$2($6, $7, name.c_str(), type.getId(), $8));
    return getAtt(name);
}
])
m4_define([MEMTYPE], [m4_ifelse([$1], [text], [], [m4_dnl
BY_VALUE([$1], [PUT_ATT_OF([_$1], [$2 datumValue], [1, &datumValue])])m4_dnl
PUT_ATT_OF([_$1], [MPI_Offset len, const $2 *dataValues], [len, dataValues])])])
m4_define([PUT_ATT_OF], [OUTPUT([PUT_ATT([], [$1], ATT_CLASS, ATT_SCOPE, [$2], ATT_FILE, ATT_ID, [$3])])])
m4_define([PUT_ATTS], [m4_define([ATT_CLASS], [$1])m4_define([ATT_SCOPE], [$2])m4_define([ATT_FILE], [$3])m4_dnl
m4_define([ATT_ID], [$4])MEMTYPES[]PUT_ATT_OF([], [MPI_Offset len, const void *dataValues], [len, dataValues])])
PUT_ATTS([NcmpiVarAtt], [], [groupId], [myId])
m4_divert(0)m4_dnl

    // How a variable of a netCDF-4 file is stored; on classic files these throw exceptions::NcNotNc4.
    void setChunking(ChunkMode chunkMode, std::vector<MPI_Offset> &chunksizes) const
    {
        std::vector<MPI_Offset> all(chunksizes); // too few are an error of the call; without any, the library chooses
        if (!all.empty() && is_short(all))
            all.resize(static_cast<std::size_t>(getDimCount()), -1);
        PNETCDF_CXX_DEFINE(groupId, ncmpi_def_var_chunking(groupId, myId, chunkMode,
                                                           all.empty() ? nullptr : all.data()));
    }
    void getChunkingParameters(ChunkMode &chunkMode, std::vector<MPI_Offset> &chunkSizes) const
    {
        int storage = NC_CONTIGUOUS;
        chunkSizes.assign(static_cast<std::size_t>(getDimCount()), 0);
        ncmpiCheck(ncmpi_inq_var_chunking(groupId, myId, &storage, chunkSizes.data()));
        chunkMode = storage == NC_CHUNKED ? ncmpi_CHUNKED : ncmpi_CONTIGUOUS;
    }
    void setCompression(bool enableShuffleFilter, bool enableDeflateFilter, int deflateLevel) const
    {
        PNETCDF_CXX_DEFINE(groupId, ncmpi_def_var_deflate(groupId, myId, enableShuffleFilter, enableDeflateFilter,
                                                          deflateLevel));
    }
    void getCompressionParameters(bool &shuffleFilterEnabled, bool &deflateFilterEnabled, int &deflateLevel) const
    {
        int shuffle = 0, deflate = 0;
        ncmpiCheck(ncmpi_inq_var_deflate(groupId, myId, &shuffle, &deflate, &deflateLevel));
        shuffleFilterEnabled = shuffle != 0;
        deflateFilterEnabled = deflate != 0;
    }
    void setEndianness(EndianMode endianMode) const
    {
        PNETCDF_CXX_DEFINE(groupId, ncmpi_def_var_endian(groupId, myId, endianMode));
    }
    EndianMode getEndianness() const
    {
        int endian = NC_ENDIAN_NATIVE;
        ncmpiCheck(ncmpi_inq_var_endian(groupId, myId, &endian));
        return static_cast<EndianMode>(endian);
    }
    void setChecksum(ChecksumMode checksumMode) const
    {
        PNETCDF_CXX_DEFINE(groupId, ncmpi_def_var_fletcher32(groupId, myId, checksumMode));
    }
    ChecksumMode getChecksum() const
    {
        int checksum = NC_NOCHECKSUM;
        ncmpiCheck(ncmpi_inq_var_fletcher32(groupId, myId, &checksum));
        return static_cast<ChecksumMode>(checksum);
    }

    void setFill(bool fillMode, const void *fillValue = nullptr) const
    {
        PNETCDF_CXX_DEFINE(groupId, ncmpi_def_var_fill(groupId, myId, !fillMode, fillValue));
    }
    void getFillModeParameters(bool &fillMode, void *fillValue = nullptr) const
    {
        int no_fill = 0;
        ncmpiCheck(ncmpi_inq_var_fill(groupId, myId, &no_fill, fillValue));
        fillMode = no_fill == 0;
    }
    template <class T> void getFillModeParameters(bool &fillMode, T &fillValue) const
    {
        getFillModeParameters(fillMode, static_cast<void *>(&fillValue));
    }
    void fillRec(MPI_Offset recno) const
    {
        PNETCDF_CXX_ACCESS(groupId, ncmpi_fill_var_rec(groupId, myId, recno));
    }
    // Where the data begin in a classic file, in bytes.
    void Inq_file_offset(MPI_Offset *offset)
    {
        ncmpiCheck(ncmpi_inq_varoffset(groupId, myId, offset));
    }

m4_divert(-1)
m4_define([METHOD], [$1Var])
m4_dnl One rank alone cannot end define mode: independent access fails there. C posts requests in any mode.
m4_define([ACCESS], [m4_ifelse([$1], [_all], [PNETCDF_CXX_ACCESS(groupId, $2)], [ncmpiCheck($2)])])
m4_define([VECTOR], [const std::vector<MPI_Offset> &])
m4_define([INDEX], [m4_ifelse([$1], [1], [VECTOR[]index, ], [$1], [a], [VECTOR[]start, VECTOR[]count, ],
[$1], [s], [VECTOR[]start, VECTOR[]count, VECTOR[]stride, ],
[$1], [m], [VECTOR[]start, VECTOR[]count, VECTOR[]stride, VECTOR[]imap, ],
[$1], [n], [const int num, MPI_Offset *const *starts, MPI_Offset *const *counts, ])])
m4_define([INDEX_ARGUMENTS], [m4_ifelse([$1], [1], [offsets(index), ], [$1], [a], [offsets(start), offsets(count), ],
[$1], [s], [offsets(start), offsets(count), offsets(stride), ],
[$1], [m], [offsets(start), offsets(count), offsets(stride), offsets(imap), ],
[$1], [n], [num, starts, counts, ])])
m4_dnl A put of one element takes a value, unless that is a character. A value that is posted must stay.
m4_define([IS_PUT], [m4_ifelse([$1], [get], [$3], [$1], [iget], [$3], [$2])])
m4_define([VALUE_ARGUMENT], [m4_ifelse([$1], [iput], [detail::pending_values::keep(groupId, $2)], [&$2])])
m4_define([IS_BY_VALUE], [m4_ifelse([$2], [1], [IS_PUT([$1], m4_dnl
[m4_ifelse([$3], [], [], [$3], [schar], [], [$3], [uchar], [], [yes])])])])
m4_define([DECLARED_MEMORY], [m4_ifelse([$3], [], [m4_dnl
IS_PUT([$1], [const ])void *dataValues, MPI_Offset bufcount, MPI_Datatype buftype],
IS_BY_VALUE([$1], [$2], [$3]), [yes], [m4_ifelse([$3], [text], [const std::string &datumValue], [const $4 datumValue])],
[IS_PUT([$1], [const ])$4 *dataValues])])
m4_define([PASSED_MEMORY], [m4_ifelse([$3], [], [dataValues, bufcount, buftype],
IS_BY_VALUE([$1], [$2], [$3]), [yes], [m4_ifelse([$3], [text],
[m4_ifelse([$1], [iput], [detail::pending_values::keep(groupId, *datumValue.c_str())], [datumValue.c_str()])],
[VALUE_ARGUMENT([$1], [datumValue])])],
[dataValues])])
m4_define([EMIT], [OUTPUT([    void METHOD([$1])[]m4_ifelse([$2], [n], [n])$6(m4_dnl
INDEX([$2])DECLARED_MEMORY($@)[]IS_POSTED([$1], [, int *req])) const
    {
        ACCESS([$6], [NAME($@)(groupId, myId, INDEX_ARGUMENTS([$2])PASSED_MEMORY($@)[]IS_POSTED([$1], [, req]))]);
    }
])])
FAMILIES
m4_define([EMIT_VARD], [OUTPUT([    void $1Vard$2(MPI_Datatype filetype, IS_PUT([$1], [const ])void *dataValues, m4_dnl
MPI_Offset bufcount, MPI_Datatype buftype) const
    {
        ACCESS([$2], [ncmpi_$1_vard$2(groupId, myId, filetype, dataValues, bufcount, buftype)]);
    }
])])
VARD
m4_divert(0)m4_dnl

  private:
    // Whether the variable has more dimensions. That there is no such variable is an error of the call of all ranks.
    bool is_short(const std::vector<MPI_Offset> &numbers) const
    {
        int n = 0;
        return ncmpi_inq_varndims(groupId, myId, &n) == NC_NOERR && numbers.size() < static_cast<std::size_t>(n);
    }
    // NULL if there are too few: the library reports it after the rank has taken part.
    const MPI_Offset *offsets(const std::vector<MPI_Offset> &numbers) const
    {
        return is_short(numbers) ? nullptr : numbers.data();
    }
    bool nullObject;
    int myId, groupId;
};

inline NcmpiVarAtt::NcmpiVarAtt(const NcmpiGroup &grp, const NcmpiVar &ncmpiVar, const int index)
{
    find(grp.getId(), ncmpiVar.getId(), index);
}
inline NcmpiVar NcmpiVarAtt::getParentVar() const
{
    return nullObject ? NcmpiVar() : NcmpiVar(NcmpiGroup(groupId), varId);
}

inline NcmpiType::NcmpiType(const PnetCDF::NcmpiGroup &grp, const std::string &name) : NcmpiType(grp.getType(name))
{
    if (nullObject)
        ncmpiCheck(NC_EBADTYPE);
}
inline NcmpiType::NcmpiType(const PnetCDF::NcmpiGroup &, nc_type id) : NcmpiType(id)
{
}
inline PnetCDF::NcmpiGroup NcmpiType::getParentGroup() const
{
    return NcmpiGroup();
}

inline int NcmpiGroup::getId() const
{
    if (nullObject)
        throw exceptions::NcNullGrp("the group is null", "", 0);
    return myId;
}
inline std::string NcmpiGroup::getName(bool) const
{
    getId();
    return "/";
}
inline NcmpiGroup NcmpiGroup::getParentGroup() const
{
    getId();
    return NcmpiGroup();
}
inline bool NcmpiGroup::isRootGroup() const
{
    getId();
    return true;
}
inline std::multimap<std::string, NcmpiGroup> NcmpiGroup::getGroups(NcmpiGroup::GroupLocation location) const
{
    std::multimap<std::string, NcmpiGroup> groups;
    if (location == ParentsAndCurrentGrps || location == AllGrps)
        groups.insert(std::make_pair(getName(), NcmpiGroup(getId())));
    return groups;
}
inline int NcmpiGroup::getGroupCount(NcmpiGroup::GroupLocation location) const
{
    return static_cast<int>(getGroups(location).size());
}
inline std::set<NcmpiGroup> NcmpiGroup::getGroups(const std::string &name, NcmpiGroup::GroupLocation location) const
{
    std::set<NcmpiGroup> groups;
    if (getGroups(location).count(name) > 0)
        groups.insert(NcmpiGroup(getId()));
    return groups;
}
inline NcmpiGroup NcmpiGroup::getGroup(const std::string &name, NcmpiGroup::GroupLocation location) const
{
    return getGroups(name, location).empty() ? NcmpiGroup() : NcmpiGroup(getId());
}
inline NcmpiGroup NcmpiGroup::addGroup(const std::string &) const
{
    ncmpiCheck(NC_ENOTNC4);
    return NcmpiGroup();
}

m4_divert(-1)
m4_dnl COUNT(method, type, function)
m4_define([COUNT], [OUTPUT([inline $2 NcmpiGroup::$1(NcmpiGroup::Location location) const
{
    $2 n = 0;
    if (isHere(location))
        ncmpiCheck(ncmpi_$3(getId(), &n));
    return n;
}
])])
COUNT(getVarCount, int, inq_nvars)
COUNT(getRecVarCount, int, inq_num_rec_vars)
COUNT(getRecSize, MPI_Offset, inq_recsize)
COUNT(getFixVarCount, int, inq_num_fix_vars)
COUNT(getAttCount, int, inq_natts)
COUNT(getDimCount, int, inq_ndims)
m4_dnl MEMBERS(class, all, by name, count, one)
m4_define([MEMBERS], [OUTPUT([inline std::multimap<std::string, $1> NcmpiGroup::$2(NcmpiGroup::Location location) const
{
    std::multimap<std::string, $1> found;
    for (int i = 0, n = $3(location); i < n; i++) {
        $1 member(*this, i);
        found.insert(std::make_pair(member.getName(), member));
    }
    return found;
}
inline std::set<$1> NcmpiGroup::$2(const std::string &name, NcmpiGroup::Location location) const
{
    std::set<$1> found;
    $1 member = $4(name, location);
    if (!member.isNull())
        found.insert(member);
    return found;
}
inline $1 NcmpiGroup::$4(const std::string &name, NcmpiGroup::Location location) const
{
    int id = -1, code = isHere(location) ? $5 : $6;
    if (code == $6)
        return $1();
    ncmpiCheck(code);
    return $1(*this, id);
}
])])
MEMBERS([NcmpiVar], [getVars], [getVarCount], [getVar], [ncmpi_inq_varid(getId(), name.c_str(), &id)], [NC_ENOTVAR])
MEMBERS([NcmpiDim], [getDims], [getDimCount], [getDim], [ncmpi_inq_dimid(getId(), name.c_str(), &id)], [NC_EBADDIM])
MEMBERS([NcmpiGroupAtt], [getAtts], [getAttCount], [getAtt], m4_dnl
[ncmpi_inq_attid(getId(), NC_GLOBAL, name.c_str(), &id)], [NC_ENOTATT])
m4_divert(0)m4_dnl

inline NcmpiVar NcmpiGroup::addVar(const std::string &name, const NcmpiType &ncmpiType,
                                   const std::vector<NcmpiDim> &ncmpiDimVector) const
{
    std::vector<int> ids;
    for (std::size_t i = 0; i < ncmpiDimVector.size(); i++) {
        if (ncmpiDimVector.at(i).isNull())
            throw exceptions::NcNullDim(("a dimension of variable \"" + name + "\" is null").c_str(), "", 0);
        ids.push_back(ncmpiDimVector.at(i).getId());
    }
    if (ncmpiType.isNull())
        throw exceptions::NcNullType(("the type of variable \"" + name + "\" is null").c_str(), "", 0);
    int id = -1;
    PNETCDF_CXX_DEFINE(getId(), ncmpi_def_var(getId(), name.c_str(), ncmpiType.getId(), static_cast<int>(ids.size()),
                                              ids.data(), &id));
    return NcmpiVar(*this, id);
}
inline NcmpiVar NcmpiGroup::addVar(const std::string &name, const NcmpiType &ncmpiType) const
{
    return addVar(name, ncmpiType, std::vector<NcmpiDim>());
}
inline NcmpiVar NcmpiGroup::addVar(const std::string &name, const NcmpiType &ncmpiType, const NcmpiDim &ncmpiDim) const
{
    return addVar(name, ncmpiType, std::vector<NcmpiDim>(1, ncmpiDim));
}
inline NcmpiVar NcmpiGroup::addVar(const std::string &name, const std::string &typeName,
                                   const std::vector<std::string> &dimNames) const
{
    std::vector<NcmpiDim> dims;
    for (std::size_t i = 0; i < dimNames.size(); i++)
        dims.push_back(getDim(dimNames.at(i)));
    return addVar(name, getType(typeName), dims);
}
inline NcmpiVar NcmpiGroup::addVar(const std::string &name, const std::string &typeName,
                                   const std::string &dimName) const
{
    return addVar(name, typeName, std::vector<std::string>(1, dimName));
}

inline NcmpiGroupAtt NcmpiGroup::putAtt(const std::string &, MPI_Offset, const char **) const
{
    ncmpiCheck(NC_ENOTNC4); // arrays of strings
    return NcmpiGroupAtt();
}
inline NcmpiGroupAtt NcmpiGroup::putAtt(const std::string &name, const std::string &dataValues) const
{
    PNETCDF_CXX_DEFINE(getId(), ncmpi_put_att_text(getId(), NC_GLOBAL, name.c_str(),
                                                   static_cast<MPI_Offset>(dataValues.size()), dataValues.data()));
    return getAtt(name);
}
m4_divert(-1)
PUT_ATTS([inline NcmpiGroupAtt], [NcmpiGroup::], [getId()], [NC_GLOBAL])
m4_divert(0)m4_dnl

inline NcmpiDim NcmpiGroup::addDim(const std::string &name, MPI_Offset dimSize) const
{
    int id = -1;
    PNETCDF_CXX_DEFINE(getId(), ncmpi_def_dim(getId(), name.c_str(), dimSize, &id));
    return NcmpiDim(*this, id);
}
inline NcmpiDim NcmpiGroup::addDim(const std::string &name) const
{
    return addDim(name, NC_UNLIMITED);
}

inline int NcmpiGroup::getTypeCount(NcmpiGroup::Location) const
{
    getId();
    return 0;
}
inline int NcmpiGroup::getTypeCount(NcmpiType::ncmpiType, NcmpiGroup::Location) const
{
    getId();
    return 0;
}
inline std::multimap<std::string, NcmpiType> NcmpiGroup::getTypes(NcmpiGroup::Location) const
{
    getId();
    return std::multimap<std::string, NcmpiType>();
}
inline std::set<NcmpiType> NcmpiGroup::getTypes(const std::string &, NcmpiGroup::Location) const
{
    getId();
    return std::set<NcmpiType>();
}
inline std::set<NcmpiType> NcmpiGroup::getTypes(NcmpiType::ncmpiType, NcmpiGroup::Location) const
{
    getId();
    return std::set<NcmpiType>();
}
inline std::set<NcmpiType> NcmpiGroup::getTypes(const std::string &, NcmpiType::ncmpiType, NcmpiGroup::Location) const
{
    getId();
    return std::set<NcmpiType>();
}
inline NcmpiType NcmpiGroup::getType(const std::string &name, NcmpiGroup::Location) const
{
    getId();
    for (const NcmpiType::Row *row = NcmpiType::rows(); row->name != nullptr; row++)
        if (name == row->name)
            return NcmpiType(row->id);
    return NcmpiType();
}
inline NcmpiEnumType NcmpiGroup::addEnumType(const std::string &, NcmpiEnumType::ncmpiEnumType) const
{
    detail::no_user_types();
}
inline NcmpiVlenType NcmpiGroup::addVlenType(const std::string &, NcmpiType &) const
{
    detail::no_user_types();
}
inline NcmpiOpaqueType NcmpiGroup::addOpaqueType(const std::string &, MPI_Offset) const
{
    detail::no_user_types();
}
inline NcmpiCompoundType NcmpiGroup::addCompoundType(const std::string &, MPI_Offset) const
{
    detail::no_user_types();
}

// An open file. The constructors and the destructor, which closes it, are collective; the destructor prints an error of
// the close, as it cannot throw.
class NcmpiFile : public NcmpiGroup
{
  public:
    enum FileMode {
        read,    // open for reading
        write,   // open for reading and writing
        replace, // create, also where there is a file
        newFile  // create, unless there is a file
    };
    enum FileFormat { classic, classic2, nc4, nc4classic, classic5, BadFormat };
    enum FillMode { Fill = NC_FILL, NoFill = NC_NOFILL, Bad };

    NcmpiFile()
    {
    }
    // A new file has the format of ncmpi_set_default_format, which is CDF-1 unless that was called.
    NcmpiFile(const MPI_Comm &comm, const std::string &filePath, FileMode fMode, const MPI_Info &info = MPI_INFO_NULL)
    {
        start(comm, filePath, fMode, 0, info);
    }
    NcmpiFile(const MPI_Comm &comm, const std::string &filePath, FileMode fMode, FileFormat fFormat,
              const MPI_Info &info = MPI_INFO_NULL)
    {
        int flags = fFormat == classic2     ? NC_64BIT_OFFSET
                    : fFormat == nc4        ? NC_NETCDF4
                    : fFormat == nc4classic ? NC_NETCDF4 | NC_CLASSIC_MODEL
                    : fFormat == classic5   ? NC_64BIT_DATA
                                            : 0;
        if (fFormat == BadFormat)
            ncmpiCheck(NC_EINVAL);
        start(comm, filePath, fMode, flags, info);
    }
    NcmpiFile(const NcmpiFile &) = delete;
    NcmpiFile &operator=(const NcmpiFile &) = delete;
    virtual ~NcmpiFile()
    {
        int code = nullObject ? NC_NOERR : end();
        if (code != NC_NOERR)
            std::cerr << ncmpi_strerror(code) << std::endl;
    }
    // Close the file before the destructor does, and learn of errors.
    void close()
    {
        getId();
        ncmpiCheck(end());
    }

    void sync()
    {
        ncmpiCheck(ncmpi_sync(getId()));
    }
    void flush()
    {
        ncmpiCheck(ncmpi_flush(getId()));
    }
    void redef()
    {
        ncmpiCheck(ncmpi_redef(getId()));
    }
    void enddef()
    {
        ncmpiCheck(ncmpi_enddef(getId()));
    }
    void Begin_indep_data()
    {
        PNETCDF_CXX_ACCESS(getId(), ncmpi_begin_indep_data(getId()));
    }
    void End_indep_data()
    {
        ncmpiCheck(ncmpi_end_indep_data(getId()));
    }
    FileFormat getFormat(void) const
    {
        int format = 0;
        ncmpiCheck(ncmpi_inq_format(getId(), &format));
        switch (format) {
        case NC_FORMAT_CLASSIC:
            return classic;
        case NC_FORMAT_CDF2:
            return classic2;
        case NC_FORMAT_NETCDF4:
            return nc4;
        case NC_FORMAT_NETCDF4_CLASSIC:
            return nc4classic;
        case NC_FORMAT_CDF5:
            return classic5;
        default:
            return BadFormat;
        }
    }
m4_divert(-1)
m4_define([COMPLETION], [OUTPUT([    void $1(int num, int *array_of_requests, int *array_of_statuses)
    {
        int code = ncmpi_$2(getId(), num, array_of_requests, array_of_statuses);
$3        detail::pending_values::drop_completed(myId);
        ncmpiCheck(code);
    }
])])
COMPLETION(Wait_all, wait_all, [        if (detail::change_mode(&code, NC_EINDEFINE, ncmpi_enddef, myId))
            code = ncmpi_wait_all(myId, num, array_of_requests, array_of_statuses);
])
COMPLETION(Wait, wait)
COMPLETION(Cancel, cancel)
m4_define([INQUIRY], [OUTPUT([    void $1($2)
    {
        ncmpiCheck(ncmpi_$3(getId()$4));
    }
])])
INQUIRY([Buffer_attach], [MPI_Offset bufsize], [buffer_attach], [, bufsize])
INQUIRY([Buffer_detach], [void], [buffer_detach])
INQUIRY([Inq_nreqs], [int *nreqs], [inq_nreqs], [, nreqs])
INQUIRY([Inq_buffer_usage], [MPI_Offset *usage], [inq_buffer_usage], [, usage])
INQUIRY([Inq_buffer_size], [MPI_Offset *buf_size], [inq_buffer_size], [, buf_size])
INQUIRY([Inq_file_info], [MPI_Info *info], [inq_file_info], [, info])
INQUIRY([Inq_put_size], [MPI_Offset *put_size], [inq_put_size], [, put_size])
INQUIRY([Inq_get_size], [MPI_Offset *get_size], [inq_get_size], [, get_size])
INQUIRY([Inq_header_size], [MPI_Offset *header_size], [inq_header_size], [, header_size])
INQUIRY([Inq_header_extent], [MPI_Offset *header_extent], [inq_header_extent], [, header_extent])
INQUIRY([Inq_path], [int *pathlen, char *path], [inq_path], [, pathlen, path])
m4_divert(0)m4_dnl
    void set_fill(FillMode fillmode, FillMode *old_modep = nullptr)
    {
        int old = NC_FILL;
        PNETCDF_CXX_DEFINE(getId(), ncmpi_set_fill(getId(), fillmode, &old));
        if (old_modep != nullptr)
            *old_modep = old == NC_FILL ? Fill : NoFill;
    }

  private:
    void start(MPI_Comm comm, const std::string &path, FileMode mode, int flags, MPI_Info info)
    {
        bool is_new = mode == replace || mode == newFile;
        ncmpiCheck(is_new ? ncmpi_create(comm, path.c_str(), flags | (mode == newFile ? NC_NOCLOBBER : NC_CLOBBER),
                                         info, &myId)
                          : ncmpi_open(comm, path.c_str(), mode == write ? NC_WRITE : NC_NOWRITE, info, &myId));
        nullObject = false;
    }
    int end()
    {
        int ncid = myId, code = ncmpi_close(ncid);
        detail::pending_values::drop(ncid);
        nullObject = true;
        myId = -1;
        return code;
    }
};

} // namespace PnetCDF

#undef PNETCDF_CXX_ACCESS
#undef PNETCDF_CXX_DEFINE
#undef PNETCDF_CXX_CALL

#endif
