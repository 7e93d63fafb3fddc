/* The loop of algorithms/trends/cogra/kernels/type_grained.py in C: aggregates at type granularity over sliding windows, exact for
   simultaneous events, with an overflow flag per count. What the kernel reads at run time is fixed here when it is compiled:

   RING, REAL, LEAST  channels; ring channel 0 is COUNT(*), the others COUNT(E)
   SEMANTICS          0 skip-till-any-match, 1 skip-till-next-match, 2 contiguous
   Returns the number of rows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_VALUE INT64_MAX
#define ANY 0
#define NEXT 1

typedef struct {
  uint64_t ring[RING];
#if REAL
  double real[REAL];
#endif
#if LEAST
  int64_t least[LEAST];
#endif
  uint64_t over;
} Cell;

typedef struct {
  Cell *cell, *pending, *final;
  uint8_t *consumed;
  uint64_t *waiting, waiting_count, size, span, occupied;
} State;

static inline void clear(Cell *cell) {
  for (int c = 0; c < RING; c++) cell->ring[c] = 0;
  cell->over = 0;
#if REAL
  for (int c = 0; c < REAL; c++) cell->real[c] = 0;
#endif
#if LEAST
  for (int c = 0; c < LEAST; c++) cell->least[c] = NO_VALUE;
#endif
}

static inline void add(Cell *to, const Cell *from) {
  to->over |= from->over;
  for (int c = 0; c < RING; c++) {
    uint64_t more = from->ring[c], total = to->ring[c] + more;
    to->over |= (uint64_t)(total < more) << c;
    to->ring[c] = total;
  }
#if REAL
  for (int c = 0; c < REAL; c++) to->real[c] += from->real[c];
#endif
#if LEAST
  for (int c = 0; c < LEAST; c++) to->least[c] = from->least[c] < to->least[c] ? from->least[c] : to->least[c];
#endif
}

static inline int is_empty(const Cell *cell) { return cell->ring[0] == 0 && !(cell->over & 1); }

static void show(State *s, uint64_t row, uint64_t windows) {
  for (uint64_t w = 0; w < windows; w++) {
    uint64_t base = row * s->size;
#if SEMANTICS != ANY
    for (uint64_t p = 0; p < s->size; p++)
      if (SEMANTICS == NEXT ? s->consumed[p] : s->occupied) clear(&s->cell[base + p]);
#endif
    for (uint64_t k = 0; k < s->waiting_count; k++) {
      uint64_t q = base + s->waiting[k];
      add(&s->cell[q], &s->pending[q]);
      clear(&s->pending[q]);
    }
    if (++row == s->span) row = 0;
  }
#if SEMANTICS != ANY
  memset(s->consumed, 0, s->size);
#endif
  s->waiting_count = s->occupied = 0;
}

int64_t aggregate_trends(int64_t events, const int64_t *time, const int32_t *kind, const int64_t *ints, const double *reals,
                         const int64_t *position, const uint8_t *start, const uint8_t *end, const uint64_t *enter_ptr,
                         const uint64_t *source, const uint8_t *ring_bound, const uint8_t *real_bound,
                         const int64_t *real_column, const uint8_t *least_bound, const int64_t *least_column, int64_t size,
                         int64_t within, int64_t slide, int64_t *row_window, uint64_t *row_ring, uint64_t *row_over,
                         double *row_real, int64_t *row_least) {
  uint64_t span = (uint64_t)((within + slide - 1) / slide), cells = (uint64_t)size * span;
  Cell *all = malloc((2 * cells + span) * sizeof(Cell));
  for (uint64_t q = 0; q < 2 * cells + span; q++) clear(&all[q]);
  State s = {all, all + cells, all + 2 * cells, calloc(size, 1), calloc(size, 8), 0, size, span, 0};
  int64_t now = -1, low = 0, high = -1, boundary = 0, rows = 0;
  uint64_t first = 0, windows = 0;
  for (int64_t i = 0; i <= events; i++) {
    int alone = 0;
    int64_t t = i < events ? time[i] : INT64_MAX / 2;
    if (t != now) {
      if (t >= boundary) {
        show(&s, first, windows);
        for (; low <= high && low * slide + within <= t; low++) {
          uint64_t row = (uint64_t)low % span;
          Cell *final = &s.final[row];
          for (int64_t p = 0; p < size; p++) {
            Cell *cell = &s.cell[row * size + p];
            if (SEMANTICS == ANY && end[p]) add(final, cell);
            clear(cell);
          }
          if (!is_empty(final)) {
            row_window[rows] = low;
            row_over[rows] = final->over;
            memcpy(&row_ring[rows * RING], final->ring, sizeof final->ring);
#if REAL
            memcpy(&row_real[rows * REAL], final->real, sizeof final->real);
#endif
#if LEAST
            memcpy(&row_least[rows * LEAST], final->least, sizeof final->least);
#endif
            rows++;
          }
          clear(final);
        }
        if (i == events) break;
        int64_t lowest = (t - within) / slide + 1;
        if (t >= within && lowest > low) low = lowest;
        if (t / slide > high) high = t / slide;
        boundary = low * slide + within < (high + 1) * slide ? low * slide + within : (high + 1) * slide;
        first = (uint64_t)low % span;
        windows = high - low + 1;
      } else if (s.occupied) {
        show(&s, first, windows);
      }
      now = t;
      alone = i + 1 < events && time[i + 1] != now;
    }
    s.occupied |= !alone;
    if (position[kind[i]] < 0) {
#if SEMANTICS == 2
      if (alone) for (uint64_t q = 0; q < cells; q++) clear(&s.cell[q]);
#endif
      continue;
    }
    uint64_t p = position[kind[i]], row = first;
    if (!alone) {
      int listed = 0;
      for (uint64_t k = 0; k < s.waiting_count; k++) listed |= s.waiting[k] == p;
      if (!listed) s.waiting[s.waiting_count++] = p;
#if SEMANTICS == NEXT
      for (uint64_t e = enter_ptr[p]; e < enter_ptr[p + 1]; e++) s.consumed[source[e]] = 1;
#endif
    }
    for (uint64_t w = 0; w < windows; w++) {
      Cell *base = &s.cell[row * size], reached;
      clear(&reached);
      reached.ring[0] = start[p];
      for (uint64_t e = enter_ptr[p]; e < enter_ptr[p + 1]; e++) add(&reached, &base[source[e]]);
#if SEMANTICS == NEXT
      if (alone) for (uint64_t e = enter_ptr[p]; e < enter_ptr[p + 1]; e++) clear(&base[source[e]]);
#elif SEMANTICS != ANY
      if (alone) for (int64_t q = 0; q < size; q++) clear(&base[q]);
#endif
      if (!is_empty(&reached)) {
        uint64_t count = reached.ring[0];
        for (int c = 1; c < RING; c++) {
          if (!ring_bound[c * size + p]) continue;
          uint64_t total = reached.ring[c] + count;
          reached.over |= (uint64_t)(total < count || (reached.over & 1)) << c;
          reached.ring[c] = total;
        }
#if REAL
        for (int c = 0; c < REAL; c++)
          if (real_bound[c * size + p]) reached.real[c] += reals[real_column[c] * events + i] * (double)count;
#endif
#if LEAST
        for (int c = 0; c < LEAST; c++)
          if (least_bound[c * size + p]) {
            int64_t key = ints[least_column[c] * events + i];
            if (key < reached.least[c]) reached.least[c] = key;
          }
#endif
        add(alone ? &base[p] : &s.pending[row * size + p], &reached);
        if (SEMANTICS != ANY && end[p]) add(&s.final[row], &reached);
      }
      if (++row == span) row = 0;
    }
  }
  free(all);
  free(s.consumed);
  free(s.waiting);
  return rows;
}
