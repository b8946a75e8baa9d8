// libpng 1.6 (Debian: libpng-dev). Only its simplified API is called: the classic one reports errors by longjmp,
// which must not cross Swift frames.
#include <png.h>
