/** The version of the package; `version.test.ts` checks that the two match. */
export const VERSION = "0.2.0";

/**
 * Oldest Node.js that the published package runs on: the first of its release line with `tls.setDefaultCACertificates`.
 */
export const OLDEST_NODE = "22.19.0";

/** Whether a version such as `22.18.1` comes before the oldest one. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split(".").map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
