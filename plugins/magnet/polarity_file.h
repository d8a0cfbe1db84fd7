/* polarity_file.h: the file polarity.bin: one f32, -1 for polarity down, +1 for up. */
#ifndef MAGNET_POLARITY_FILE_H
#define MAGNET_POLARITY_FILE_H

#define POLARITY_FILE "polarity.bin"
enum { POLARITY_FILE_BYTES = 4 };

#endif
