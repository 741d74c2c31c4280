import type { Bridge } from "../types.ts";

/** Every general conversion; those of private protocols come with their providers. */
export const bridges: readonly Bridge[] = [];
