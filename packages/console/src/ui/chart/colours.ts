/** Hues of data series. The error red is not one of them, because it marks only errors. */
const HUES = ["fairway", "flare", "beacon", "azure", "plum", "kelp"] as const;
const SHADES = 3;

/** Classes of `chart.css` that set the colour of a series. */
export type Colour = `series-${(typeof HUES)[number] | "port" | "slate"} shade-${number}`;

export const ERROR_COLOUR: Colour = "series-port shade-0";
export const MAIN_COLOUR: Colour = "series-fairway shade-0";
export const SECOND_COLOUR: Colour = "series-beacon shade-0";
/** The colour of series without a colour of their own, and of the previous period. */
export const REST_COLOUR: Colour = "series-slate shade-0";

/** Found by trial: the seven most common model names take all six hues, the twenty most common sixteen colours. */
const SEED = 1003;

function hash(text: string): number {
  let value = SEED;
  for (const sign of text) value = Math.imul(value ^ (sign.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return value ^ (value >>> 15);
}

function colourAt(place: number): Colour {
  const hue = HUES[place % HUES.length] ?? "fairway";
  return `series-${hue} shade-${Math.floor(place / HUES.length) % SHADES}`;
}

/**
 * A name has the same hue in every chart. If two names of one chart want the same colour, the alphabetically later one
 * takes the next shade of its hue, so that neither size nor metric changes a colour.
 */
export function assignColours(names: readonly string[]): ReadonlyMap<string, Colour> {
  const total = HUES.length * SHADES;
  const colours = new Map<string, Colour>();
  const used = new Set<number>();
  for (const name of names.toSorted()) {
    let place = (hash(name) >>> 0) % total;
    for (let tries = 1; used.has(place) && tries < total; tries++) {
      place = (place + HUES.length + (tries % SHADES === 0 ? 1 : 0)) % total;
    }
    used.add(place);
    colours.set(name, colourAt(place));
  }
  return colours;
}
