export type TipSide = "bottom" | "right";

/**
 * Returns attributes that give an element a tooltip; `TipLayer` shows it. Assistive technology reads the element's own
 * label.
 */
export function tip(text: string | undefined, side: TipSide = "bottom") {
  return text === undefined ? {} : { "data-tip": text, "data-tip-side": side };
}
