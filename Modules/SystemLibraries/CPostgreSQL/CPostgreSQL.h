// The C client of PostgreSQL, libpq, 12 or newer (Debian: libpq-dev).
#include <libpq-fe.h>
