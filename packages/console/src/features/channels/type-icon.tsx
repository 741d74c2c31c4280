import type { Hue } from "../../theme/ramps.ts";
import "./channels.css";
import "./marks.css";

const HUES: readonly Hue[] = ["fairway", "flare", "beacon", "starboard", "cardinal", "kelp"];

interface TypeIconProps {
  readonly type: number;
  /** The id of the channel type; undefined while the types are unknown. */
  readonly id: string | undefined;
  readonly label: string;
}

/** A tile with the mark of the provider, or the first letter of its label; the colour follows from the number of the type. */
export function TypeIcon({ type, id, label }: TypeIconProps) {
  const letter = label.replace(/[^\p{L}\d]/gu, "").slice(0, 1);
  return (
    <span className={`type-icon hue-${HUES[type % HUES.length]} mark-${id}`} aria-hidden="true">
      {letter.toUpperCase() || "?"}
    </span>
  );
}
