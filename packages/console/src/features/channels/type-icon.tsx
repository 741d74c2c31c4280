import type { Hue } from "../../theme/ramps.ts";
import "./channels.css";

const HUES: readonly Hue[] = ["fairway", "flare", "beacon", "starboard", "cardinal", "kelp"];

/** A lettered tile that distinguishes providers; the colour follows from the number of the type. */
export function TypeIcon(props: { readonly type: number; readonly label: string }) {
  return (
    <span className={`type-icon hue-${HUES[props.type % HUES.length]}`} aria-hidden="true">
      {props.label
        .replace(/[^\p{L}\d]/gu, "")
        .slice(0, 1)
        .toUpperCase() || "?"}
    </span>
  );
}
