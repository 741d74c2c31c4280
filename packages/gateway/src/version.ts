/** Version of the program; `version.test.ts` holds it to the package's. */
export const VERSION = "0.2.0";
