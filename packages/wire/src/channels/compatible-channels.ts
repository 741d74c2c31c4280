/** Families of gateways with different rows. */
export type SourceGateway = "one-api" | "new-api" | "one-hub";

/** A channel type of such a gateway: our number, and the address that its own number implied. */
export interface TypeHere {
  readonly type: number;
  readonly baseUrl?: string;
}

/** Resellers of OpenAI's protocol with the same number in both projects, from before they split. */
const RESELLERS: readonly [number, TypeHere][] = [
  [6, { type: 1, baseUrl: "https://api.openaimax.com" }],
  [7, { type: 1, baseUrl: "https://api.ohmygpt.com" }],
  [9, { type: 1, baseUrl: "https://api.caipacity.com" }],
  [10, { type: 1, baseUrl: "https://api.aiproxy.io" }],
  [12, { type: 1, baseUrl: "https://api.api2gpt.com" }],
  [13, { type: 1, baseUrl: "https://api.aigc2d.com" }],
];

/**
 * New API uses the numbers of this gateway, except for a few that are an address of another type. Undefined: services
 * that this gateway does not support.
 */
const NEW_API_TYPES: ReadonlyMap<number, TypeHere | undefined> = new Map([
  ...RESELLERS,
  [51, undefined],
  [52, undefined],
  [53, { type: 1, baseUrl: "https://llm.submodel.ai" }],
  [54, { type: 45 }],
  [55, { type: 1 }],
  [56, undefined],
  [57, undefined],
  [58, undefined],
]);

/** Services of New API for which this gateway has no channel type. */
const NAMES: Readonly<Record<number, string>> = {
  51: "Jimeng",
  52: "Vidu",
  56: "Replicate",
  57: "Codex",
  58: "Kuaizi Lizhen",
};

/** Returns the number of a type, with the name of its service if only the other gateway has it. */
export function compatibleTypeName(kind: SourceGateway, type: number): string {
  const name = kind === "new-api" ? NAMES[type] : undefined;
  return name === undefined ? String(type) : `${type} (${name})`;
}

/**
 * Types of One API whose numbers have another meaning here; all others are the same. Undefined: services that this
 * gateway does not support.
 */
const ONE_API_TYPES: ReadonlyMap<number, TypeHere | undefined> = new Map<number, TypeHere | undefined>([
  ...RESELLERS,
  [2, { type: 1, baseUrl: "https://oa.api2d.net" }],
  [4, { type: 1, baseUrl: "https://api.closeai-proxy.xyz" }],
  [5, { type: 1, baseUrl: "https://api.openai-sb.com" }],
  // In One API, the usual paths are appended to this address; here it is the whole address.
  [8, { type: 1 }],
  [26, { type: 1006 }],
  [27, { type: 35 }],
  [28, { type: 42 }],
  [29, { type: 1001 }],
  [30, { type: 4 }],
  [32, { type: 1007 }],
  [34, { type: 49 }],
  [35, { type: 34 }],
  [36, { type: 43 }],
  [37, { type: 39 }],
  [38, undefined],
  [39, { type: 1002 }],
  [40, { type: 45 }],
  [41, { type: 1005, baseUrl: "https://api.novita.ai/v3/openai" }],
  [42, { type: 41 }],
  [43, undefined],
  [44, { type: 40 }],
  [45, { type: 48 }],
  [46, undefined],
  [47, { type: 46 }],
  [48, { type: 1005, baseUrl: "https://spark-api-open.xf-yun.com/v1" }],
  [49, { type: 17 }],
  [50, { type: 1005 }],
  [51, { type: 1005, baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai" }],
]);

const LAST_OF_ONE_API = 51;

/** Types of one-hub, whose numbers have another meaning from 24 on. Undefined: services that are not supported here. */
const ONE_HUB_TYPES: ReadonlyMap<number, TypeHere | undefined> = new Map<number, TypeHere | undefined>([
  ...RESELLERS,
  [2, { type: 1, baseUrl: "https://oa.api2d.net" }],
  [4, { type: 1, baseUrl: "https://api.closeai-proxy.xyz" }],
  [5, { type: 1, baseUrl: "https://api.openai-sb.com" }],
  [8, { type: 1 }],
  [16, { type: 26 }],
  [24, undefined],
  [25, { type: 24 }],
  [26, { type: 1006 }],
  [27, { type: 35 }],
  [28, { type: 43 }],
  [29, { type: 25 }],
  [30, { type: 42 }],
  [31, { type: 1001 }],
  [32, { type: 33 }],
  [33, { type: 31 }],
  [34, { type: 2 }],
  [35, { type: 39 }],
  [36, { type: 34 }],
  [37, undefined],
  [38, { type: 49 }],
  [39, { type: 4 }],
  [40, { type: 23 }],
  [41, { type: 36 }],
  [42, { type: 41 }],
  [43, { type: 1005 }],
  [44, undefined],
  [45, { type: 40 }],
  [46, undefined],
  [47, { type: 38 }],
  [48, undefined],
]);

const LAST_OF_ONE_HUB = 48;

const ZHIPU = 16;
const ZHIPU_V4 = 26;

/** Returns our channel type for one of the other gateway; undefined if there is no equivalent. */
export function compatibleType(kind: SourceGateway, type: number, models: readonly string[]): TypeHere | undefined {
  // One API selects one of Zhipu's two protocols by the model.
  if (kind === "one-api" && type === ZHIPU && models.some((model) => model.startsWith("glm-")))
    return { type: ZHIPU_V4 };
  const { types, last } = FAMILIES[kind];
  if (types.has(type)) return types.get(type);
  return type > last ? undefined : { type };
}

interface Family {
  readonly types: ReadonlyMap<number, TypeHere | undefined>;
  /** The highest number with a known meaning. */
  readonly last: number;
}

const FAMILIES: Readonly<Record<SourceGateway, Family>> = {
  "one-api": { types: ONE_API_TYPES, last: LAST_OF_ONE_API },
  "new-api": { types: NEW_API_TYPES, last: Infinity },
  "one-hub": { types: ONE_HUB_TYPES, last: LAST_OF_ONE_HUB },
};

/** Returns true for placeholders and patterns in a `header_override` of New API, which have no meaning here. */
export function hasForeignHeaders(text: string): boolean {
  return /[{][a-z_:]+[}]|"(?:re:|regex:|\*)/.test(text);
}

type Config = Readonly<Record<string, unknown>>;

/** Returns the file of a Google service account, which One API stores in a field next to the key. */
export function compatibleKeyFile(config: Config): string | undefined {
  const file = config["vertex_ai_adc"];
  return typeof file === "string" && file !== "" ? file : undefined;
}

/** Returns the parts of an AWS key, which One API stores there as well. */
export function compatibleKeyParts(config: Config): string | undefined {
  const parts = ["ak", "sk", "region"].map((name) => config[name]).filter((part) => typeof part === "string");
  return parts.length > 1 ? parts.join("|") : undefined;
}

/** Returns the settings of a type, which One API moved into a JSON column. */
export function compatibleOther(config: Config, other: string): string {
  const names = ["api_version", "region", "library_id", "user_id", "plugin"];
  const found = names.map((name) => config[name]).find((value) => typeof value === "string" && value !== "");
  return typeof found === "string" ? found : other;
}
