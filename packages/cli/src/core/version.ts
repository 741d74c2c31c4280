/** Set to the version of the package; `version.test.ts` holds the two together. */
export const VERSION = "0.1.0";
