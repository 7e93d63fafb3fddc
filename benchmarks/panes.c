/* The loop of algorithms/trends/cogra/kernels/panes.py in C: COUNT(*) by maps of panes and two stacks, with an overflow flag per
   count, for one position per type and windows whose length is a multiple of their slide. Returns the number of rows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint64_t count, over;
} Cell;

static int64_t entries, positions;
static const int64_t *after;

static inline void add(Cell *to, uint64_t more, uint64_t over) {
  uint64_t total = to->count + more;
  to->over |= over | (total < more);
  to->count = total;
}

/* A row of the product of two panes: a.row + b.row + a.b */
static inline void concatenate(Cell *to, const Cell *a, const Cell *b, const Cell *b_row) {
  for (int64_t p = 0; p < positions; p++) {
    Cell sum = a[p];
    add(&sum, b_row[p].count, b_row[p].over);
    for (int64_t q = 0; q < positions; q++) {
      if (after[q] < 0) continue;
      const Cell *next = &b[after[q] * positions + p];
      if ((!a[q].count && !a[q].over) || (!next->count && !next->over)) continue;
      unsigned __int128 product = (unsigned __int128)a[q].count * next->count;
      add(&sum, (uint64_t)product, a[q].over | next->over | ((uint64_t)(product >> 64) != 0));
    }
    to[p] = sum;
  }
}

int64_t count_by_panes(int64_t events, int64_t entry_count, int64_t position_count, int64_t within, int64_t slide,
                       const int64_t *time, const int32_t *kind, const int64_t *position, const uint8_t *enters,
                       const int64_t *follows, const uint8_t *end, const int64_t *enter_ptr, const int64_t *source,
                       uint64_t *row_count, uint64_t *row_over) {
  entries = entry_count, positions = position_count, after = follows;
  const int64_t size = entries * positions, span = within / slide;
  const uint64_t bytes = size * sizeof(Cell);
  Cell *now = calloc(5 * size, sizeof(Cell)), *waits = now + size, *product = waits + size, *made = product + size,
       *other = made + size, *back = calloc((span + 2) * size, sizeof(Cell)),
       *front = calloc((span + 2) * positions, sizeof(Cell));
  int64_t *back_pane = calloc(2 * (span + 2), 8), *front_pane = back_pane + span + 2;
  int64_t in_back = 0, in_front = 0, filled = 0, waiting = 0, pane = 0, rows = 0, moment = -1, low = 0;
  for (int64_t i = 0; i <= events; i++) {
    int64_t t = i < events ? time[i] : INT64_MAX / 4;
    int alone = 0;
    if (t != moment) {
      if (waiting)
        for (int64_t q = 0; q < size; q++) {
          add(&now[q], waits[q].count, waits[q].over);
          waits[q] = (Cell){0, 0};
        }
      waiting = 0;
      if (t >= (pane + 1) * slide) {
        if (filled) {
          memcpy(back + in_back * size, now, bytes);
          back_pane[in_back++] = pane;
          if (in_back == 1)
            memcpy(product, now, bytes);
          else {
            for (int64_t c = 0; c < entries; c++)
              concatenate(made + c * positions, product + c * positions, now, now + c * positions);
            memcpy(product, made, bytes);
          }
          memset(now, 0, bytes);
          filled = 0;
        }
        for (; low * slide + within <= t && in_back + in_front > 0; low++) {
          if (in_back && back_pane[in_back - 1] < low) in_back = in_front = 0;
          while (in_front && front_pane[in_front - 1] < low) in_front--;
          if (!in_front && in_back && back_pane[0] < low) {
            while (in_back && back_pane[in_back - 1] >= low) {
              const Cell *one = back + --in_back * size;
              if (!in_front)
                memcpy(made, one, bytes);
              else {
                for (int64_t c = 0; c < entries; c++)
                  concatenate(other + c * positions, one + c * positions, made, made + c * positions);
                Cell *swap = made;
                made = other, other = swap;
              }
              memcpy(front + in_front * positions, made, positions * sizeof(Cell));
              front_pane[in_front++] = back_pane[in_back];
            }
            in_back = 0;
          }
          if (in_back + in_front == 0) continue;
          const Cell *result = product;
          if (in_front && in_back)
            concatenate(made, front + (in_front - 1) * positions, product, product), result = made;
          else if (in_front)
            result = front + (in_front - 1) * positions;
          Cell sum = {0, 0};
          for (int64_t p = 0; p < positions; p++)
            if (end[p]) add(&sum, result[p].count, result[p].over);
          if (sum.count || sum.over) row_count[rows] = sum.count, row_over[rows++] = sum.over;
        }
        if (i == events) break;
        if ((t - within) / slide + 1 > low && t >= within) low = (t - within) / slide + 1;
        pane = t / slide;
      }
      moment = t;
      alone = i + 1 < events && time[i + 1] != moment;
    }
    int64_t p = position[kind[i]];
    filled = 1;
    waiting |= !alone;
    for (int64_t c = 0; c < entries; c++) {
      Cell *row = now + c * positions, reached = {enters[c * positions + p], 0};
      for (int64_t e = enter_ptr[p]; e < enter_ptr[p + 1]; e++) add(&reached, row[source[e]].count, row[source[e]].over);
      add(alone ? &row[p] : &waits[c * positions + p], reached.count, reached.over);
    }
  }
  free(now);
  free(back);
  free(front);
  free(back_pane);
  return rows;
}
