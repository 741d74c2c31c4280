import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

type Three = readonly [number, number, number];

const CSS = readFileSync(join(import.meta.dirname, "chart.css"), "utf8");
const NAMES = ["fairway", "flare", "beacon", "azure", "plum", "kelp"];
const THEMES = { light: { prefix: "", page: "ffffff" }, dark: { prefix: ".dark ", page: "0c1a21" } };

/** How people see who lack one kind of cones (Machado, Oliveira and Fernandes, 2009). */
const VISIONS: Readonly<Record<string, readonly Three[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
};

function readColour(name: string, prefix: string): string {
  const found = new RegExp(
    `^${prefix.replace(".", "\\.")}\\.series-${name} \\{\\s*--shade-0: #([0-9a-f]{6})`,
    "m",
  ).exec(CSS);
  if (!found?.[1]) throw new Error(`chart.css has no ${prefix}series-${name}`);
  return found[1];
}

function toLinear(hex: string): Three {
  const part = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(0), part(2), part(4)];
}

const dot = (a: Three, b: Three) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const map = (rows: readonly Three[], colour: Three): Three => {
  const [a = 0, b = 0, c = 0] = rows.map((row) => Math.min(1, Math.max(0, dot(row, colour))));
  return [a, b, c];
};

/** Converts linear light to the space in which distances are as large as they look. */
function toOklab(colour: Three): Three {
  const l = Math.cbrt(dot([0.4122214708, 0.5363325363, 0.0514459929], colour));
  const m = Math.cbrt(dot([0.2119034982, 0.6806995451, 0.1073969566], colour));
  const s = Math.cbrt(dot([0.0883024619, 0.2817188376, 0.6299787005], colour));
  return [
    dot([0.2104542553, 0.793617785, -0.0040720468], [l, m, s]),
    dot([1.9779984951, -2.428592205, 0.4505937099], [l, m, s]),
    dot([0.0259040371, 0.7827717662, -0.808675766], [l, m, s]),
  ];
}

const luminance = (hex: string) => dot([0.2126, 0.7152, 0.0722], toLinear(hex));

function contrast(a: string, b: string): number {
  const [dark = 0, bright = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}

const findHue = (hex: string) => {
  const [, a, b] = toOklab(toLinear(hex));
  return ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360;
};

test.each(Object.entries(THEMES))(
  "the six colours of series are far apart for every eye, and visible (%s)",
  (_theme, { prefix, page }) => {
    const colours = NAMES.map((name) => readColour(name, prefix));
    for (const [at, one] of colours.entries()) {
      expect(contrast(one, page), one).toBeGreaterThanOrEqual(3);
      for (const other of colours.slice(at + 1)) {
        const turn = Math.abs(findHue(one) - findHue(other));
        expect(Math.min(turn, 360 - turn), `${one} and ${other}`).toBeGreaterThanOrEqual(28);
        for (const [vision, rows] of Object.entries(VISIONS)) {
          const [a, b] = [one, other].map((hex) => toOklab(map(rows, toLinear(hex)))) as [Three, Three];
          expect(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), `${one} and ${other}, ${vision}`).toBeGreaterThan(
            0.1,
          );
        }
      }
    }
  },
);
