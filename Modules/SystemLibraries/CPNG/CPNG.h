// libpng 1.6 (Debian: libpng-dev), read row by row. libpng reports errors by longjmp, which must not cross Swift
// frames: the functions below catch it, and Swift calls only them.
#pragma once
#include <png.h>
#include <setjmp.h>
#include <string.h>

// A PNG in memory, and the state of its reading. Zero it, and set `bytes` and `count`.
typedef struct {
    const unsigned char *bytes;
    size_t count;
    size_t offset;
    png_structp png;
    png_infop info;
    png_uint_32 width;
    png_uint_32 height;
    // 3, or 4 with alpha. A sample has 8 bits.
    int channels;
    // How often all rows are read, from top to bottom: seven times for an interlaced PNG (Adam7), otherwise once.
    int passes;
    // Owned by the reader; null if there is none for RGB.
    const unsigned char *profile;
    png_uint_32 profile_count;
    char message[80];
} png_rows;

static inline void png_rows_failed(png_structp png, png_const_charp message) {
    png_rows *rows = (png_rows *)png_get_error_ptr(png);
    strncpy(rows->message, message, sizeof(rows->message) - 1);
    png_longjmp(png, 1);
}

static inline void png_rows_ignore(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static inline void png_rows_copy(png_structp png, png_bytep target, size_t count) {
    png_rows *rows = (png_rows *)png_get_io_ptr(png);
    if (count > rows->count - rows->offset) png_error(png, "the file is cut off");
    memcpy(target, rows->bytes + rows->offset, count);
    rows->offset += count;
}

// The samples become 8-bit RGB or RGBA, by sRGB's gamma unless the PNG has a profile or says that it is sRGB.
static inline void png_rows_convert(png_rows *rows) {
    png_charp name;
    int method;
    png_bytep profile;
    png_fixed_point gamma;
    int color = png_get_color_type(rows->png, rows->info);
    if (png_get_iCCP(rows->png, rows->info, &name, &method, &profile, &rows->profile_count) != 0) {
        if ((color & PNG_COLOR_MASK_COLOR) != 0) rows->profile = profile;
    } else if (png_get_valid(rows->png, rows->info, PNG_INFO_sRGB) == 0
        && png_get_gAMA_fixed(rows->png, rows->info, &gamma) != 0) {
        png_set_gamma_fixed(rows->png, PNG_DEFAULT_sRGB, gamma);
    }
    png_set_expand(rows->png);
    png_set_scale_16(rows->png);
    if ((color & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(rows->png);
}

// Reads everything before the pixels. 0 for a failure, which `message` explains. Call `png_rows_close` in every case.
static inline int png_rows_open(png_rows *rows) {
    rows->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, rows, png_rows_failed, png_rows_ignore);
    if (rows->png == NULL) return 0;
    if (setjmp(png_jmpbuf(rows->png)) != 0) return 0;
    rows->info = png_create_info_struct(rows->png);
    if (rows->info == NULL) return 0;
    png_set_read_fn(rows->png, rows, png_rows_copy);
    // The largest profile, unpacked. Text and suggested palettes, which could be large too, are skipped.
    png_set_chunk_malloc_max(rows->png, 4 << 20);
    static const unsigned char skipped[] = "tEXt\0zTXt\0iTXt\0sPLT\0eXIf\0hIST";
    png_set_keep_unknown_chunks(rows->png, PNG_HANDLE_CHUNK_NEVER, skipped, 6);
    png_read_info(rows->png, rows->info);
    png_rows_convert(rows);
    rows->passes = png_set_interlace_handling(rows->png);
    png_read_update_info(rows->png, rows->info);
    rows->width = png_get_image_width(rows->png, rows->info);
    rows->height = png_get_image_height(rows->png, rows->info);
    rows->channels = png_get_channels(rows->png, rows->info);
    return png_get_bit_depth(rows->png, rows->info) == 8 && (rows->channels == 3 || rows->channels == 4);
}

// Reads the next row into `width * channels` bytes. A pass of an interlaced PNG changes the pixels that it has, and keeps
// those of the passes before. 0 for a failure.
static inline int png_rows_next(png_rows *rows, unsigned char *row) {
    if (setjmp(png_jmpbuf(rows->png)) != 0) return 0;
    png_read_row(rows->png, row, NULL);
    return 1;
}

static inline void png_rows_close(png_rows *rows) {
    png_destroy_read_struct(&rows->png, &rows->info, NULL);
}
