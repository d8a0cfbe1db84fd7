/* raw_record.h: the whole record of each event as it was read, for who hands events on: sinks write what nobody in the
 * graph knows, byte for byte and in its order.
 *
 * A source of raw events has the output `record` (IO_RAW_RECORD_OUT in its table of arguments) and fills it by
 * bank_packer.h. Where no sink reads it, it costs nothing; it is never copied to a device.
 *
 * A record is what stands in an MDF file (README.md): header and body, compressed or not, with its checksum. A source
 * that reads no such records has header_bytes = 0: the banks alone, one after the other, each padded to words.
 *
 * An event that cannot be read has its record too, if begin and end of it are certain, with the wrong checksum or bank
 * as it is: nobody takes a copy of it for sound.
 */
#ifndef IO_RAW_RECORD_H
#define IO_RAW_RECORD_H

#include <sluice/plugin.h>

#define IO_RAW_RECORD_FIELDS(F)                                                              \
  F(offsets, u32, OFFSETS, "", "the record of each event: one, or none")                     \
  F(header_bytes, u32, PER_ITEM, "byte", "of the MDF header it begins with; 0: banks alone") \
  F(size_bytes, u32, PER_ITEM, "byte", "header included")                                    \
  F(first_word, u32, PER_ITEM, "word", "where it begins in `data`")                          \
  F(data, u32, BYTES, "", "records, each padded with zeros to a word")
SL_COLLECTION(io_raw_record, IO_RAW_RECORD_FIELDS, "whole records of events, as they were read");

/* What one event may have: far above all events of the experiment, so that a copy loses none. */
enum { IO_RECORD_WORDS_LIMIT = 1 << 23, IO_RECORD_WORDS_AVERAGE = 1 << 15 };

#define IO_RAW_RECORD_OUT(M)                                                                                          \
  M(OUT, record, io_raw_record, "the whole record of each event, for sinks of raw data",                              \
    SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0))), SL_SUBITEMS(SL_ONE(SL_BUDGET_TERM(record_words, IO_RECORD_WORDS_LIMIT)))) \
  M(BUDGET, record_words, IO_RECORD_WORDS_AVERAGE, 0, 1 << 28, "32-bit words of records, on average over a slice")

#endif
