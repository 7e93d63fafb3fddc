/* The loop of algorithms/kernels/type_grained_count.py in C: COUNT(*) at type granularity over sliding windows, exact for
   simultaneous events, with overflow flags. Returns the number of rows; rows hold window, count and overflow. */
#include <stdint.h>
#include <stdlib.h>

typedef struct {
  uint64_t *count, *pending;
  uint8_t *over, *pending_over;
  uint64_t *waiting, waiting_count;
  uint64_t size, span;
} Counts;

static void show(Counts *c, uint64_t row, uint64_t windows) {
  for (uint64_t w = 0; w < windows; w++) {
    for (uint64_t k = 0; k < c->waiting_count; k++) {
      uint64_t q = row + c->waiting[k], more = c->pending[q], total = c->count[q] + more;
      c->over[q] |= c->pending_over[q] | (total < more);
      c->count[q] = total;
      c->pending[q] = 0;
      c->pending_over[q] = 0;
    }
    row += c->size;
    if (row == c->size * c->span) row = 0;
  }
  c->waiting_count = 0;
}

int64_t count_trends(int64_t events, const int64_t *time, const int32_t *kind, const int64_t *position,
                     const uint64_t *start, const uint8_t *end, const uint64_t *enter_ptr, const uint64_t *source,
                     int64_t size, int64_t within, int64_t slide, int64_t *row_window, uint64_t *row_count,
                     uint8_t *row_over) {
  uint64_t span = (uint64_t)((within + slide - 1) / slide), cells = (uint64_t)size * span;
  Counts c = {calloc(cells, 8), calloc(cells, 8), calloc(cells, 1), calloc(cells, 1), calloc(size, 8), 0, size, span};
  int64_t now = -1, low = 0, high = -1, boundary = 0, rows = 0;
  uint64_t row = 0, windows = 0;
  for (int64_t i = 0; i <= events; i++) {
    int alone = 0;
    int64_t t = i < events ? time[i] : INT64_MAX / 2;
    if (t != now) {
      if (t >= boundary) {
        show(&c, row, windows);
        for (; low <= high && low * slide + within <= t; low++) {
          uint64_t base = (uint64_t)low % span * size, trends = 0;
          uint8_t over = 0;
          for (int64_t p = 0; p < size; p++) {
            if (end[p]) {
              uint64_t more = c.count[base + p];
              trends += more;
              over |= c.over[base + p] | (trends < more);
            }
            c.count[base + p] = 0;
            c.over[base + p] = 0;
          }
          if (trends || over) {
            row_window[rows] = low;
            row_count[rows] = trends;
            row_over[rows++] = over;
          }
        }
        if (i == events) break;
        int64_t first = (t - within) / slide + 1;
        if (t >= within && first > low) low = first;
        if (t / slide > high) high = t / slide;
        boundary = low * slide + within < (high + 1) * slide ? low * slide + within : (high + 1) * slide;
        row = (uint64_t)low % span * size;
        windows = high - low + 1;
      } else if (c.waiting_count) {
        show(&c, row, windows);
      }
      now = t;
      alone = i + 1 < events && time[i + 1] != now;
    }
    if (position[kind[i]] < 0) continue;
    uint64_t p = position[kind[i]], base = row;
    if (!alone) {
      int listed = 0;
      for (uint64_t k = 0; k < c.waiting_count; k++) listed |= c.waiting[k] == p;
      if (!listed) c.waiting[c.waiting_count++] = p;
    }
    for (uint64_t w = 0; w < windows; w++) {
      uint64_t trends = start[p];
      uint8_t over = 0;
      for (uint64_t e = enter_ptr[p]; e < enter_ptr[p + 1]; e++) {
        uint64_t q = base + source[e], more = c.count[q];
        trends += more;
        over |= c.over[q] | (trends < more);
      }
      uint64_t q = base + p;
      uint64_t *count = alone ? c.count : c.pending;
      uint8_t *flag = alone ? c.over : c.pending_over;
      uint64_t total = count[q] + trends;
      flag[q] |= over | (total < trends);
      count[q] = total;
      base += size;
      if (base == cells) base = 0;
    }
  }
  free(c.count);
  free(c.pending);
  free(c.over);
  free(c.pending_over);
  free(c.waiting);
  return rows;
}
