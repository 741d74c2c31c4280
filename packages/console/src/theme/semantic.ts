import { ramps, type Hue } from "./ramps.ts";

interface Pair {
  value: { _light: string; _dark: string };
}

function pair(light: string, dark: string): Pair {
  const token = (name: string) => (/^#|^rgb/.test(name) ? name : `{colors.${name}}`);
  return { value: { _light: token(light), _dark: token(dark) } };
}

/**
 * The values that a Chakra recipe reads through `colorPalette`. Text in a hue is 700 on light (at least 5.9:1 on its
 * own 50) and 300 on dark (at least 9.1:1); solid parts are white on 700 and ink on 400.
 */
function palette(hue: Hue) {
  return {
    contrast: pair("white", "slate.950"),
    fg: pair(`${hue}.700`, `${hue}.300`),
    subtle: pair(`${hue}.50`, `${hue}.950`),
    muted: pair(`${hue}.100`, `${hue}.900`),
    emphasized: pair(`${hue}.200`, `${hue}.800`),
    solid: pair(`${hue}.700`, `${hue}.400`),
    focusRing: pair(`${hue}.600`, `${hue}.400`),
    border: pair(`${hue}.300`, `${hue}.800`),
  };
}

const hues = Object.fromEntries(Object.keys(ramps).map((hue) => [hue, palette(hue as Hue)])) as Record<
  Hue,
  ReturnType<typeof palette>
>;

export const semanticColors = {
  ...hues,
  bg: {
    DEFAULT: pair("slate.50", "#08151d"),
    panel: pair("#ffffff", "#0f1e26"),
    subtle: pair("slate.50", "#0b1921"),
    muted: pair("slate.100", "#172831"),
    emphasized: pair("slate.200", "slate.800"),
    inverted: pair("slate.900", "slate.100"),
    hover: pair("slate.100", "#15262f"),
    error: pair("port.50", "port.950"),
    warning: pair("cardinal.50", "cardinal.950"),
    success: pair("starboard.50", "starboard.950"),
    info: pair("fairway.50", "fairway.950"),
  },
  fg: {
    DEFAULT: pair("slate.950", "slate.100"),
    muted: pair("slate.600", "slate.400"),
    subtle: pair("slate.600", "slate.400"),
    inverted: pair("slate.50", "slate.950"),
    error: pair("port.700", "port.300"),
    warning: pair("cardinal.700", "cardinal.300"),
    success: pair("starboard.700", "starboard.300"),
    info: pair("fairway.700", "fairway.300"),
  },
  border: {
    DEFAULT: pair("slate.200", "#22343e"),
    muted: pair("slate.100", "#182a33"),
    subtle: pair("slate.100", "#182a33"),
    emphasized: pair("slate.300", "slate.700"),
    inverted: pair("slate.800", "slate.200"),
    /** Edges of inputs: 3.9:1 on white, 4.7:1 on night. */
    input: pair("slate.500", "slate.500"),
    error: pair("port.600", "port.400"),
    warning: pair("cardinal.500", "cardinal.400"),
    success: pair("starboard.500", "starboard.400"),
    info: pair("fairway.500", "fairway.400"),
  },
};

/** A shadow below elements above the page, with an edge that separates them on a dark page too. */
function shadow(drop: string): Pair {
  return {
    value: {
      _light: `${drop} {colors.slate.950/10}, 0px 0px 1px {colors.slate.950/30}`,
      _dark: `${drop} {black/64}, 0px 0px 1px inset {colors.slate.300/30}`,
    },
  };
}

export const semanticShadows = {
  xs: shadow("0px 1px 2px"),
  sm: shadow("0px 2px 4px"),
  md: shadow("0px 4px 8px"),
  lg: shadow("0px 8px 16px"),
  inset: { value: { _light: "inset 0 0 0 1px {black/5}", _dark: "inset 0 0 0 1px {colors.slate.300/5}" } },
};
