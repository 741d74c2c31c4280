/** The path and the model name of a protocol version. */
export interface SparkVersion {
  readonly path: string;
  readonly domain: string;
  readonly takesSystem: boolean;
  readonly takesFunctions: boolean;
}

const NAMED: Readonly<Record<string, string>> = {
  "Spark-Lite": "v1.1",
  "Spark-Pro": "v3.1",
  "Spark-Pro-128K": "v3.1-128K",
  "Spark-Max": "v3.5",
  "Spark-Max-32K": "v3.5-32K",
  "Spark-4.0-Ultra": "v4.0",
};

const DOMAINS: Readonly<Record<string, string>> = {
  "v1.1": "general",
  "v2.1": "generalv2",
  "v3.1": "generalv3",
  "v3.1-128K": "pro-128k",
  "v3.5": "generalv3.5",
  "v3.5-32K": "max-32k",
  "v4.0": "4.0Ultra",
};

const PATHS: Readonly<Record<string, string>> = { "v3.1-128K": "/chat/pro-128k", "v3.5-32K": "/chat/max-32k" };
const SYSTEM: ReadonlySet<string> = new Set(["v3.1-128K", "v3.5", "v3.5-32K", "v4.0"]);
const FUNCTIONS: ReadonlySet<string> = new Set(["v3.1", "v3.5", "v4.0"]);

/** Only versions of this form reach the path, because the client may choose them. */
const VERSION = /^v\d+\.\d+(?:-\d+K)?$/;

export function isSparkVersion(text: string): boolean {
  return VERSION.test(text);
}

/**
 * Returns the first version found in: the client's `api-version`, the model's name, the channel's `other`; else v1.1.
 */
export function sparkVersion(model: string, asked: string | undefined, other: string): SparkVersion {
  const suffix = /^[^-]+-([^-]+)$/.exec(model)?.[1];
  const version =
    [asked, NAMED[model], suffix, other].find((candidate) => candidate !== undefined && VERSION.test(candidate)) ??
    "v1.1";
  return {
    path: PATHS[version] ?? `/${version}/chat`,
    domain: DOMAINS[version] ?? `general${version}`,
    takesSystem: SYSTEM.has(version),
    takesFunctions: FUNCTIONS.has(version),
  };
}
