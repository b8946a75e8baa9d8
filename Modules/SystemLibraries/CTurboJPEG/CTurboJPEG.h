// The plain TurboJPEG API of libjpeg-turbo, 2.1 or newer (Debian: libturbojpeg0-dev).
#include <turbojpeg.h>
