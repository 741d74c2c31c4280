import type { IconName } from "../../ui/display/icon.tsx";

/** An entry of the palette: a place to go, or something to do. */
export type Item = {
  readonly id: string;
  readonly label: string;
  /** A second name, which is found too. */
  readonly note?: string;
  readonly icon: IconName;
  readonly keys?: string;
} & ({ readonly to: string } | { run(): void });
