import { BudgetSpec, ChannelSpec, OptionSetSpec, TokenSpec } from "../../packages/wire/src/index.ts";

/** What Kubernetes checks besides the schema of a document. */
export interface Rules {
  /** A CEL expression and the message of its refusal. */
  readonly cel?: Readonly<Record<string, string>>;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly format?: string;
  readonly "x-kubernetes-list-type"?: "set" | "atomic";
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
}

export interface Resource {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly about: string;
  readonly spec: object;
  /** By the path of a field below `spec`; "" is the spec itself. */
  readonly rules: Readonly<Record<string, Rules>>;
  readonly columns: readonly Column[];
}

const set = { "x-kubernetes-list-type": "set" } as const;
const fixed = (what: string, instead: string) => ({
  cel: { "self == oldSelf": `${what} does not change: create another ${instead}` },
});
/** Variables and files of the gateway are not for everyone who may create a resource. */
const fromSecret = (path: string) => ({
  cel: {
    "has(self.secretKeyRef) && !has(self.file) && !has(self.env)": `${path} names a Secret of this namespace: set secretKeyRef.name and secretKeyRef.key, and neither file nor env`,
  },
});

export const RESOURCES: readonly Resource[] = [
  {
    kind: "Channel",
    plural: "channels",
    shortName: "fwch",
    about: "One account at a model provider. Fields that are left out belong to the console.",
    spec: ChannelSpec,
    rules: {
      "": {
        cel: {
          "!has(self.key)":
            "spec.key is not for clusters: store the key in a Secret and name it in spec.credentialsFrom.secretKeyRef",
        },
      },
      type: fixed("the type of a channel", "channel"),
      displayName: { maxLength: 191 },
      baseUrl: {
        maxLength: 2048,
        cel: {
          "self == '' || (isURL(self) && url(self).getScheme() in ['http', 'https'])":
            "spec.baseUrl is no web address: write it whole, for example https://api.example.com",
        },
      },
      models: set,
      groups: { ...set, maxItems: 256 },
      credentialsFrom: fromSecret("spec.credentialsFrom"),
    },
    columns: [
      { name: "Type", type: "string", jsonPath: ".spec.type" },
      { name: "Enabled", type: "boolean", jsonPath: ".spec.enabled" },
    ],
  },
  {
    kind: "OptionSet",
    plural: "optionsets",
    shortName: "fwopt",
    about: "Options of the gateway, such as prices and limits.",
    spec: OptionSetSpec,
    rules: {
      valuesFrom: { maxItems: 64 },
      "valuesFrom[]": fromSecret("spec.valuesFrom"),
    },
    columns: [{ name: "Priority", type: "integer", jsonPath: ".spec.priority" }],
  },
  {
    kind: "Token",
    plural: "tokens",
    shortName: "fwtok",
    about:
      "A key of a user for model calls. The key itself stays in the gateway, where its owner reads it, or is written into a Secret.",
    spec: TokenSpec,
    rules: {
      owner: {
        cel: { "self.username == oldSelf.username": "the owner of a token does not change: create another token" },
      },
      displayName: { maxLength: 30 },
      expiresAt: { format: "date-time" },
      modelLimits: { ...set, maxItems: 512 },
      allowIps: { ...set, maxItems: 256 },
    },
    columns: [{ name: "Owner", type: "string", jsonPath: ".spec.owner.username" }],
  },
  {
    kind: "Budget",
    plural: "budgets",
    shortName: "fwbud",
    about: "A limit of spending per day, week or month.",
    spec: BudgetSpec,
    rules: {
      scope: fixed("the scope of a budget", "budget"),
      subject: fixed("the subject of a budget", "budget"),
      period: fixed("the period of a budget", "budget"),
    },
    columns: [
      { name: "Scope", type: "string", jsonPath: ".spec.scope" },
      { name: "Subject", type: "string", jsonPath: ".spec.subject" },
      { name: "Period", type: "string", jsonPath: ".spec.period" },
      { name: "Limit", type: "integer", jsonPath: ".spec.limit" },
    ],
  },
];
