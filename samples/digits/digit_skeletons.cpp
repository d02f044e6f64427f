#include "digits/digit_skeletons.h"

#include <array>
#include <cstddef>

namespace samples {
namespace {

constexpr ControlPoint corner(float x, float y) { return {x, y, true}; }

// Each style has one comment. A line has many points, so clang-format is off.
// clang-format off

std::vector<DigitStyle> zero() {
  return {
      // Closed oval, begun at the top.
      {3, {{{.35f, 0}, {.1f, .15f}, {0, .5f}, {.1f, .85f}, {.35f, 1}, {.6f, .85f}, {.7f, .5f}, {.6f, .15f},
       {.35f, 0}}}},
      // Begun at the upper right, ends crossing over.
      {2, {{{.52f, .06f}, {.2f, .1f}, {0, .5f}, {.13f, .92f}, {.42f, .98f}, {.66f, .68f}, {.64f, .25f}, {.42f, .02f},
       {.22f, .06f}}}},
      // The end curls inside.
      {.6f, {{{.3f, .02f}, {.05f, .3f}, {.05f, .75f}, {.3f, 1}, {.6f, .8f}, {.66f, .35f}, {.48f, .05f}, {.3f, .1f},
       {.36f, .26f}}}},
      // Left gap at the top.
      {.4f, {{{.25f, .04f}, {.02f, .4f}, {.1f, .85f}, {.36f, 1}, {.63f, .8f}, {.68f, .4f}, {.48f, 0}}}},
  };
}

std::vector<DigitStyle> one() {
  return {
      {6, {{{.3f, 0}, {.3f, 1}}}},
      // With a flag.
      {1.2f, {{{.06f, .24f}, corner(.35f, 0), {.35f, 1}}}},
      // Flag and foot.
      {.8f, {{{.06f, .24f}, corner(.35f, 0), {.35f, 1}}, {{.05f, 1}, {.65f, .99f}}}},
      {.3f, {{{.3f, 0}, {.3f, 1}}, {{.05f, 1}, {.58f, .99f}}}},
      // A short hook.
      {.6f, {{{.18f, .12f}, {.3f, .01f}, {.33f, .25f}, {.32f, 1}}}},
  };
}

std::vector<DigitStyle> two() {
  return {
      // Pointed at the lower left.
      {3, {{{.05f, .22f}, {.15f, .06f}, {.38f, 0}, {.6f, .1f}, {.62f, .3f}, {.45f, .56f}, {.2f, .82f}, corner(0, 1),
       {.72f, .98f}}}},
      // Looped at the lower left.
      {3, {{{.06f, .2f}, {.2f, .04f}, {.42f, 0}, {.6f, .14f}, {.58f, .4f}, {.4f, .7f}, {.18f, .94f}, {.03f, .97f},
       {.02f, .84f}, {.16f, .8f}, {.38f, .92f}, {.58f, .98f}, {.78f, .9f}}}},
      // Pointed, with a wavy base.
      {2, {{{.06f, .2f}, {.25f, .02f}, {.5f, .04f}, {.6f, .22f}, {.48f, .52f}, {.24f, .8f}, corner(.02f, .97f),
       {.2f, .88f}, {.45f, .97f}, {.78f, .93f}}}},
      // Sharp at the top, like a Z.
      {.6f, {{{.05f, .08f}, {.3f, .02f}, corner(.62f, .08f), {.32f, .55f}, corner(0, 1), {.7f, .97f}}}},
      // Round at the lower left.
      {1, {{{.04f, .24f}, {.22f, .03f}, {.5f, .05f}, {.58f, .3f}, {.35f, .62f}, {.08f, .88f}, {.18f, .99f},
       {.45f, .97f}, {.74f, .98f}}}},
      // Large bow, long slanting base.
      {1, {{{.12f, .3f}, {.1f, .12f}, {.35f, 0}, {.55f, .16f}, {.48f, .5f}, {.3f, .75f}, {.1f, .86f}, {.06f, .74f},
       {.22f, .72f}, {.42f, .88f}, {.7f, 1}}}},
      // Flat and wide, sharp turns.
      {.8f, {{{.06f, .16f}, {.3f, .02f}, {.62f, .1f}, {.54f, .36f}, corner(.08f, .8f), {.5f, .8f}, {.95f, .84f}}}},
      // The loop closes high on the left.
      {1, {{{.12f, .12f}, {.36f, .0f}, {.58f, .14f}, {.56f, .5f}, {.38f, .86f}, {.14f, 1}, {.02f, .84f}, {.14f, .68f},
       {.38f, .76f}, {.68f, .96f}}}},
      // A large loop, almost a ring.
      {1.2f, {{{.06f, .16f}, {.3f, .0f}, {.56f, .14f}, {.52f, .48f}, {.3f, .88f}, {.08f, .96f}, {-.02f, .78f},
       {.12f, .6f}, {.34f, .72f}, {.56f, .94f}, {.8f, .9f}}}},
      // Tall bow with its start curled in.
      {.8f, {{{.2f, .26f}, {.06f, .2f}, {.18f, .02f}, {.48f, .02f}, {.58f, .26f}, {.44f, .6f}, {.22f, .9f},
       {.06f, .9f}, {.14f, .8f}, {.4f, .92f}, {.74f, .96f}}}},
      // A wide bow closing into a flat loop, the tail far to the right.
      {1.2f, {{{.02f, .36f}, {.12f, .08f}, {.42f, 0}, {.66f, .2f}, {.6f, .6f}, {.34f, .93f}, {.08f, .95f},
       {.02f, .78f}, {.2f, .67f}, {.52f, .8f}, {.9f, .94f}}}},
  };
}

std::vector<DigitStyle> three() {
  return {
      // Two bows meeting at a point.
      {3, {{{.05f, .12f}, {.3f, 0}, {.57f, .1f}, {.56f, .32f}, corner(.25f, .46f), {.58f, .58f}, {.65f, .8f}, {.4f, 1},
       {.02f, .9f}}}},
      // A small loop in the middle.
      {1.5f, {{{.06f, .1f}, {.34f, 0}, {.56f, .14f}, {.48f, .36f}, {.28f, .46f}, {.2f, .5f}, {.28f, .53f},
       {.35f, .47f}, {.6f, .6f}, {.62f, .84f}, {.34f, 1}, {0, .9f}}}},
      // Flat top.
      {.8f, {{{.05f, .03f}, corner(.6f, .02f), corner(.28f, .4f), {.54f, .5f}, {.63f, .76f}, {.38f, .99f},
       {0, .92f}}}},
      // Smooth, hardly drawn in.
      {1.5f, {{{.03f, .16f}, {.25f, 0}, {.52f, .12f}, {.5f, .34f}, {.38f, .46f}, {.56f, .62f}, {.58f, .86f}, {.3f, 1},
       {0, .86f}}}},
      // The middle stroke runs far to the left.
      {1, {{{.0f, .1f}, {.34f, 0}, {.55f, .16f}, {.4f, .4f}, corner(.12f, .5f), {.5f, .52f}, {.62f, .74f},
       {.42f, .98f}, {.06f, 1}}}},
      // Zigzag with a round belly.
      {1, {{{.08f, .08f}, {.3f, .02f}, corner(.58f, .06f), {.4f, .26f}, corner(.2f, .4f), {.48f, .46f}, {.58f, .7f},
       {.36f, .94f}, {0, 1}}}},
      // Small head, large flat belly.
      {.8f, {{{.18f, .1f}, {.4f, .0f}, {.54f, .12f}, {.42f, .28f}, corner(.24f, .36f), {.58f, .44f}, {.7f, .7f},
       {.44f, .96f}, {.06f, .96f}, {0, .82f}}}},
      // A heavy upper bow over a small lower one.
      {.8f, {{{0, .14f}, {.3f, .0f}, {.64f, .12f}, {.6f, .4f}, corner(.3f, .56f), {.52f, .64f}, {.56f, .82f},
       {.36f, 1}, {.04f, .94f}}}},
  };
}

std::vector<DigitStyle> four() {
  return {
      // Open, straight strokes.
      {2, {{{.13f, .02f}, {.06f, .3f}, corner(.0f, .56f), {.68f, .53f}}, {{.56f, .06f}, {.5f, 1}}}},
      // Open, a U on a stem.
      {3, {{{.1f, .04f}, {.03f, .28f}, {.1f, .46f}, {.3f, .48f}, {.52f, .38f}}, {{.6f, 0}, {.53f, .5f}, {.48f, 1}}}},
      // Closed triangle.
      {1, {{{.46f, 0}, corner(.0f, .66f), {.72f, .65f}}, {{.48f, .0f}, {.48f, 1}}}},
      // In one stroke, back up the stem.
      {2, {{{.08f, .05f}, {.02f, .34f}, {.14f, .5f}, {.38f, .42f}, corner(.6f, .02f), {.54f, .5f}, {.48f, 1}}}},
      // Nearly closed at the top.
      {.7f, {{{.4f, .02f}, {.14f, .28f}, corner(.02f, .54f), {.3f, .56f}, {.66f, .52f}}, {{.54f, .1f}, {.5f, .5f},
       {.45f, 1}}}},
      // The bar crosses well past a short stem.
      {1.2f, {{{.12f, .02f}, corner(.04f, .48f), {.4f, .45f}, {.8f, .4f}}, {{.48f, .12f}, {.44f, 1}}}},
      // One stroke, the bar looping up into the stem.
      {.3f, {{{.1f, .06f}, {.02f, .34f}, {.1f, .52f}, {.36f, .5f}, {.56f, .3f}, {.58f, .1f}, {.54f, .5f}, {.46f, 1}}}},
  };
}

std::vector<DigitStyle> five() {
  return {
      // The roof as a stroke of its own.
      {2.5f, {{{.16f, .05f}, corner(.1f, .42f), {.35f, .36f}, {.6f, .5f}, {.62f, .78f}, {.38f, 1}, {.02f, .92f}},
       {{.16f, .05f}, {.72f, .02f}}}},
      // In one stroke.
      {2, {{{.7f, .02f}, corner(.2f, .06f), corner(.12f, .42f), {.38f, .4f}, {.6f, .56f}, {.58f, .82f}, {.34f, 1},
       {0, .92f}}}},
      // Like an S.
      {2, {{{.68f, .02f}, {.36f, .05f}, {.14f, .2f}, {.22f, .42f}, {.48f, .54f}, {.56f, .76f}, {.36f, .98f},
       {.02f, .94f}}}},
      // Small belly under a long back.
      {1.5f, {{{.72f, .0f}, corner(.3f, .04f), {.16f, .5f}, {.36f, .52f}, {.5f, .68f}, {.4f, .92f}, {.14f, 1},
       {0, .88f}}}},
      // Roof detached.
      {1, {{{.14f, .12f}, corner(.12f, .48f), {.36f, .42f}, {.56f, .58f}, {.5f, .88f}, {.24f, 1}, {.02f, .92f}},
       {{.2f, .08f}, {.78f, .0f}}}},
      // The belly curls back up.
      {.8f, {{{.66f, .02f}, corner(.22f, .06f), corner(.14f, .4f), {.4f, .4f}, {.6f, .6f}, {.52f, .92f}, {.2f, 1},
       {.02f, .82f}, {.1f, .7f}}}},
      // Short back, the roof rising to the right.
      {1, {{{.9f, .0f}, corner(.34f, .1f), {.2f, .4f}, {.44f, .5f}, {.48f, .76f}, {.26f, .98f}, {0, .96f}}}},
  };
}

std::vector<DigitStyle> six() {
  return {
      {3, {{{.5f, 0}, {.2f, .22f}, {.03f, .6f}, {.1f, .9f}, {.34f, 1}, {.58f, .86f}, {.56f, .64f}, {.34f, .56f},
       {.08f, .72f}}}},
      // Long straight back, small loop.
      {2, {{{.42f, 0}, {.2f, .34f}, {.04f, .7f}, {.1f, .95f}, {.34f, .98f}, {.5f, .82f}, {.42f, .66f}, {.24f, .68f},
       {.08f, .84f}}}},
      // Upright back, closed loop.
      {1.5f, {{{.14f, 0}, {.03f, .35f}, {.02f, .75f}, {.2f, .99f}, {.5f, .94f}, {.6f, .72f}, {.42f, .55f}, {.18f, .6f},
       {.03f, .78f}}}},
      // Curled top.
      {1, {{{.6f, .08f}, {.42f, .01f}, {.14f, .26f}, {.02f, .64f}, {.14f, .94f}, {.4f, .98f}, {.6f, .8f}, {.52f, .58f},
       {.3f, .54f}, {.08f, .7f}}}},
      // The loop crosses the back.
      {1, {{{.5f, 0}, {.22f, .25f}, {.05f, .62f}, {.14f, .95f}, {.42f, .96f}, {.56f, .76f}, {.4f, .62f}, {.18f, .72f},
       {.0f, .9f}}}},
      // A large ring under a short back.
      {1.5f, {{{.36f, 0}, {.12f, .28f}, {.02f, .66f}, {.18f, .96f}, {.5f, .96f}, {.68f, .72f}, {.6f, .46f},
       {.36f, .44f}, {.14f, .66f}}}},
      // The ring ends open, high on the right.
      {.5f, {{{.2f, 0}, {.04f, .4f}, {.06f, .8f}, {.3f, 1}, {.58f, .82f}, {.62f, .52f}, {.44f, .46f}, {.26f, .64f}}}},
      // A spiral, the ring's end inside.
      {1, {{{.26f, .0f}, {.04f, .42f}, {.12f, .9f}, {.46f, .98f}, {.68f, .68f}, {.52f, .42f}, {.32f, .54f},
       {.3f, .76f}}}},
      // A wide ring low on the right of a steep back.
      {1, {{{.1f, .0f}, {.02f, .4f}, {.04f, .82f}, {.32f, 1}, {.66f, .88f}, {.7f, .62f}, {.46f, .52f}, {.22f, .68f},
       {.14f, .9f}}}},
      // The ring stands beside the back and touches it twice.
      {.8f, {{{.06f, .0f}, {.0f, .45f}, {.08f, .9f}, {.36f, 1}, {.62f, .8f}, {.66f, .5f}, {.5f, .42f}, {.32f, .6f},
       {.24f, .84f}}}},
  };
}

std::vector<DigitStyle> seven() {
  return {
      {3, {{{0, .04f}, corner(.65f, .02f), {.42f, .5f}, {.26f, 1}}}},
      // A serif at the left.
      {1.2f, {{{.02f, .2f}, corner(.05f, .03f), corner(.64f, .03f), {.44f, .45f}, {.3f, 1}}}},
      // With a bar.
      {1.5f, {{{0, .05f}, corner(.66f, .02f), {.44f, .45f}, {.28f, 1}}, {{.14f, .53f}, {.64f, .47f}}}},
      // Round shoulder.
      {1.5f, {{{0, .12f}, {.3f, .02f}, {.58f, .08f}, {.54f, .35f}, {.4f, .65f}, {.34f, 1}}}},
      // Wavy roof.
      {1.2f, {{{.0f, .18f}, {.12f, .04f}, {.34f, .1f}, corner(.66f, .02f), {.42f, .42f}, {.28f, .98f}}}},
      // Steep roof.
      {.8f, {{{.0f, .22f}, corner(.6f, .0f), {.44f, .5f}, {.38f, 1}}}},
      // A long serif and a round shoulder.
      {.8f, {{{.04f, .36f}, {.08f, .12f}, {.3f, .02f}, {.56f, .08f}, {.56f, .34f}, {.42f, .7f}, {.38f, 1}}}},
      // Short stem under a wide roof.
      {.5f, {{{0, .1f}, {.4f, .06f}, corner(.8f, .0f), {.62f, .36f}, {.48f, .8f}}}},
      // A wavy roof, with a bar.
      {.5f, {{{.02f, .22f}, {.12f, .06f}, {.36f, .1f}, corner(.68f, .02f), {.46f, .42f}, {.3f, 1}}, {{.2f, .5f},
       {.62f, .46f}}}},
      // A roof that rises and falls, like an arch.
      {.6f, {{{0, .34f}, {.1f, .1f}, {.3f, .02f}, {.5f, .1f}, {.54f, .4f}, {.5f, .7f}, {.5f, 1}}}},
  };
}

std::vector<DigitStyle> eight() {
  return {
      // An S closed by the way back.
      {3, {{{.58f, .1f}, {.35f, 0}, {.1f, .1f}, {.13f, .32f}, {.38f, .48f}, {.6f, .66f}, {.55f, .9f}, {.28f, 1},
       {.04f, .88f}, {.1f, .66f}, {.35f, .47f}, {.58f, .28f}, {.58f, .1f}}}},
      // Two rings.
      {1, {{{.35f, .0f}, {.12f, .1f}, {.12f, .34f}, {.35f, .46f}, {.57f, .34f}, {.57f, .1f}, {.35f, .0f}},
       {{.35f, .46f}, {.06f, .58f}, {.04f, .86f}, {.35f, 1}, {.64f, .86f}, {.63f, .58f}, {.35f, .46f}}}},
      // Open at the top right.
      {1.5f, {{{.6f, .14f}, {.38f, .01f}, {.14f, .12f}, {.18f, .34f}, {.4f, .5f}, {.52f, .72f}, {.42f, .95f},
       {.18f, .98f}, {.06f, .8f}, {.24f, .56f}, {.5f, .32f}, {.68f, .1f}}}},
      // Narrow, small head.
      {1, {{{.48f, .1f}, {.32f, .02f}, {.2f, .14f}, {.28f, .34f}, {.44f, .54f}, {.54f, .78f}, {.4f, .98f},
       {.14f, .96f}, {.08f, .74f}, {.28f, .5f}, {.46f, .3f}, {.48f, .1f}}}},
      // Flat lower ring.
      {1, {{{.52f, .06f}, {.26f, .04f}, {.14f, .22f}, {.36f, .42f}, {.5f, .62f}, {.42f, .92f}, {.16f, 1}, {.02f, .82f},
       {.2f, .6f}, {.5f, .38f}, {.66f, .18f}, {.52f, .06f}}}},
      // Round head hung above a thin loop, closed at the upper right.
      {1.5f, {{{.62f, .06f}, {.36f, .03f}, {.12f, .16f}, {.2f, .36f}, {.36f, .54f}, {.4f, .8f}, {.26f, 1},
       {.14f, .84f}, {.26f, .58f}, {.5f, .34f}, {.66f, .16f}, {.56f, .03f}}}},
      // The same, the way back straight and ending in a point.
      {1.5f, {{{.66f, .08f}, {.4f, .0f}, {.14f, .12f}, {.2f, .34f}, {.42f, .52f}, {.46f, .82f}, {.24f, 1},
       {.08f, .84f}, {.22f, .6f}, corner(.7f, .06f)}}},
      // Narrow leaning rings, crossing with almost straight lines.
      {1.5f, {{{.6f, .12f}, {.42f, .0f}, {.22f, .1f}, {.24f, .3f}, {.42f, .58f}, {.44f, .88f}, {.26f, 1}, {.12f, .86f},
       {.24f, .58f}, {.5f, .3f}, {.6f, .12f}}}},
      // The head left open at the right, its start standing out.
      {1.2f, {{{.7f, .1f}, {.46f, .02f}, {.2f, .14f}, {.22f, .34f}, {.42f, .54f}, {.46f, .82f}, {.26f, 1}, {.1f, .86f},
       {.22f, .62f}, {.44f, .42f}, {.58f, .24f}}}},
      // A long flat head over a drop.
      {1, {{{.5f, .2f}, {.52f, .04f}, {.24f, .02f}, {.06f, .18f}, {.2f, .36f}, {.42f, .56f}, {.4f, .9f}, {.22f, .98f},
       {.16f, .78f}, {.34f, .46f}, {.54f, .16f}}}},
  };
}

std::vector<DigitStyle> nine() {
  return {
      // Ring and straight stem.
      {3, {{{.58f, .14f}, {.34f, 0}, {.08f, .12f}, {.04f, .34f}, {.22f, .48f}, {.48f, .36f}, corner(.6f, .1f),
       {.57f, .5f}, {.54f, 1}}}},
      // Curved tail.
      {2, {{{.6f, .16f}, {.36f, 0}, {.1f, .12f}, {.06f, .34f}, {.26f, .46f}, {.5f, .34f}, corner(.62f, .12f),
       {.63f, .5f}, {.48f, .88f}, {.12f, .98f}}}},
      // Cursive, the stem slanting to the left.
      {2.5f, {{{.56f, .1f}, {.32f, .02f}, {.08f, .2f}, {.08f, .42f}, {.3f, .44f}, {.5f, .26f}, {.56f, .1f}, {.5f, .4f},
       {.36f, .75f}, {.28f, 1}}}},
      // Small ring, long stem.
      {1.2f, {{{.46f, .1f}, {.26f, .02f}, {.08f, .14f}, {.1f, .32f}, {.28f, .36f}, {.46f, .2f}, {.5f, .06f},
       {.48f, .5f}, {.44f, 1}}}},
      // Begun at the stem, a closed ring back.
      {1.2f, {{{.6f, .2f}, {.5f, .02f}, {.2f, .06f}, {.03f, .28f}, {.14f, .5f}, {.42f, .44f}, {.6f, .2f}, {.58f, .6f},
       {.42f, 1}}}},
      // Open at the top, like a 4 with a round belly.
      {1.2f, {{{.42f, .06f}, {.14f, .14f}, {.04f, .36f}, {.22f, .48f}, {.46f, .36f}, corner(.6f, .06f), {.56f, .5f},
       {.5f, 1}}}},
      // A large ring on a short stem.
      {.8f, {{{.6f, .1f}, {.34f, .0f}, {.06f, .2f}, {.04f, .52f}, {.28f, .64f}, {.52f, .48f}, corner(.62f, .16f),
       {.62f, .6f}, {.58f, 1}}}},
      // A flat ring, begun at the left, the stem in one go from its right end.
      {.8f, {{{.2f, .06f}, {.04f, .26f}, {.2f, .42f}, {.46f, .3f}, {.54f, .08f}, {.3f, .02f}, {.14f, .08f}},
       {{.56f, .06f}, {.5f, .5f}, {.4f, 1}}}},
      // Hooked foot.
      {.8f, {{{.58f, .12f}, {.34f, .0f}, {.08f, .14f}, {.08f, .38f}, {.3f, .46f}, {.56f, .3f}, {.6f, .14f},
       {.62f, .6f}, {.5f, .94f}, {.24f, 1}, {.06f, .88f}}}},
      // A pointed, leaning ring.
      {1.2f, {{{.54f, .08f}, {.3f, .08f}, {.06f, .32f}, {.1f, .46f}, {.32f, .36f}, corner(.58f, .08f), {.46f, .5f},
       {.32f, 1}}}},
      // The ring closes below its start on the stem.
      {1, {{{.6f, .0f}, {.34f, .04f}, {.06f, .22f}, {.1f, .42f}, {.34f, .42f}, {.54f, .28f}}, {{.6f, .0f}, {.56f, .5f},
       {.5f, 1}}}},
      // A narrow leaning ring, almost a line with its stem.
      {1, {{{.5f, .06f}, {.34f, .04f}, {.18f, .26f}, {.22f, .42f}, {.38f, .34f}, {.54f, .06f}, {.42f, .5f},
       {.26f, 1}}}},
  };
}

// clang-format on

}  // namespace

const std::vector<DigitStyle>& digit_styles(int digit) {
  static const std::array<std::vector<DigitStyle>, 10> styles{zero(), one(), two(),   three(), four(),
                                                              five(), six(), seven(), eight(), nine()};
  return styles[static_cast<std::size_t>(digit)];
}

}  // namespace samples
