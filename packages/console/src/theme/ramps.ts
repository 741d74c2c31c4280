const STEPS = [50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 950] as const;

function ramp(hexes: string): Record<(typeof STEPS)[number], { value: string }> {
  const values = hexes.split(" ");
  return Object.fromEntries(STEPS.map((step, i) => [step, { value: `#${values[i]}` }])) as ReturnType<typeof ramp>;
}

/** Colour ramps computed in OKLCH; the contrast of each rule in `semantic.ts` is measured on these values. */
export const ramps = {
  fairway: ramp("effafb daf4f7 b3e8ee 81d8e2 4abfcc 1ba5b2 008490 006972 015259 033d43 00262a"),
  port: ramp("fff4f3 ffe7e3 ffcdc6 ffaba1 ff8074 f45249 d22828 ab171a 851616 621513 3f0b09"),
  starboard: ramp("effbf2 daf7e3 b6ecc8 8bdda8 5bc586 37ab6b 1a8a51 136e40 135532 113f25 0a2716"),
  cardinal: ramp("fff6e7 ffebc9 fed794 f3bd5c dda016 c08600 9a6a00 7b5400 5f4100 473103 2c1d02"),
  flare: ramp("fff5ee ffe7d6 ffcfad ffaf79 f98b3f e06d00 b65500 914300 703504 542807 351704"),
  kelp: ramp("f5faeb eaf3d2 d5e6a3 bcd46f a0ba37 879f07 6b7f00 546500 414e00 313a07 1d2404"),
  beacon: ramp("f7f6ff edebff dcd7ff c6bdff ab9df9 927eec 765bd2 5e44b0 4a348c 372769 211743"),
  slate: ramp("f4f7f9 ecf1f4 dde4e8 cbd4da 9eacb4 72838d 566873 3f515d 273944 172831 08151d"),
} as const;

export type Hue = keyof typeof ramps;
