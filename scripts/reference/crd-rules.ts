import {
  BudgetSpec,
  ChannelSpec,
  isSecretOption,
  OPTION_KEYS,
  OptionSetSpec,
  TokenSpec,
} from "../../packages/wire/src/index.ts";
import { buildOptionRules, MAX_OPTIONS, MAX_VALUE_CHARACTERS, type CelRule } from "./crd-options.ts";

/** Checks of Kubernetes in addition to the schema of a document. */
export interface Rules {
  /** A CEL expression and the message of its refusal. */
  readonly cel?: Readonly<Record<string, string>>;
  /** Rules whose message names what is wrong. */
  readonly celRules?: readonly CelRule[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly format?: string;
  /** Undefined removes the schema's pattern, whose error message would be the bare expression without a remedy. */
  readonly pattern?: undefined;
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
/** Users who may create a resource must not read variables and files of the gateway. */
const fromSecret = (path: string) => ({
  cel: {
    "has(self.secretKeyRef) && !has(self.file) && !has(self.env)": `${path} names a Secret of this namespace: set secretKeyRef.name and secretKeyRef.key, and neither file nor env`,
  },
});

/** Names that are stored in one text, separated by commas. */
const name = (path: string): Rules => ({
  cel: {
    "self != '' && self == self.trim() && !self.contains(',')": `an entry of ${path} is empty, or has a comma or spaces around it: give each name an entry of its own`,
  },
});
const buildSecretNameRules = (path: string): Rules => ({
  maxLength: 253,
  pattern: undefined,
  cel: {
    "self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')": `${path} is not the name of a Secret: use lower-case letters, digits, hyphens and dots`,
  },
});
const buildSecretKeyRules = (path: string): Rules => ({
  maxLength: 253,
  pattern: undefined,
  cel: {
    "self.matches('^[A-Za-z0-9._-]+$')": `${path} is not a key of a Secret: use letters, digits, hyphens, underscores and dots`,
  },
});

/** A user who may create a resource may not necessarily read the Secret. */
const secretOption: Rules = {
  maxLength: 64,
  cel: {
    [`self in [${OPTION_KEYS.filter(isSecretOption)
      .map((key) => `'${key}'`)
      .join(", ")}]`]:
      "spec.valuesFrom.option is not an option that holds a secret: other options are shown, so give their values in spec.values",
  },
};

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
      baseUrl: {
        cel: {
          "self == '' || (isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHostname() != '')":
            "spec.baseUrl is not a web address: write it whole, for example https://api.example.com",
        },
      },
      models: set,
      "models[]": name("spec.models"),
      groups: set,
      "groups[]": name("spec.groups"),
      credentialsFrom: fromSecret("spec.credentialsFrom"),
      "credentialsFrom.secretKeyRef.name": buildSecretNameRules("spec.credentialsFrom.secretKeyRef.name"),
      "credentialsFrom.secretKeyRef.key": buildSecretKeyRules("spec.credentialsFrom.secretKeyRef.key"),
    },
    columns: [
      { name: "Type", type: "string", jsonPath: ".spec.type" },
      { name: "Models", type: "string", jsonPath: ".spec.models" },
    ],
  },
  {
    kind: "OptionSet",
    plural: "optionsets",
    shortName: "fwopt",
    about: "Options of the gateway, such as prices and limits.",
    spec: OptionSetSpec,
    rules: {
      values: { maxProperties: MAX_OPTIONS, celRules: buildOptionRules() },
      "values{}": { maxLength: MAX_VALUE_CHARACTERS },
      json: { maxProperties: MAX_OPTIONS },
      valuesFrom: { maxItems: 64 },
      "valuesFrom[]": fromSecret("spec.valuesFrom"),
      "valuesFrom[].option": secretOption,
      "valuesFrom[].secretKeyRef.name": buildSecretNameRules("spec.valuesFrom.secretKeyRef.name"),
      "valuesFrom[].secretKeyRef.key": buildSecretKeyRules("spec.valuesFrom.secretKeyRef.key"),
    },
    columns: [{ name: "Priority", type: "integer", jsonPath: ".spec.priority" }],
  },
  {
    kind: "Token",
    plural: "tokens",
    shortName: "fwtok",
    about:
      "A key of a user or a team for model calls. The key itself stays in the gateway, where its owner reads it, or is written into a Secret.",
    spec: TokenSpec,
    rules: {
      owner: {
        cel: {
          "has(self.username) != has(self.team)":
            "spec.owner names one of two: a user as username, or a team by its short name as team",
          "(has(self.username) ? self.username : '') == (has(oldSelf.username) ? oldSelf.username : '') && (has(self.team) ? self.team : '') == (has(oldSelf.team) ? oldSelf.team : '')":
            "the owner of a token does not change: create another token",
        },
      },
      "owner.username": {
        maxLength: 255,
        cel: { "self != ''": "spec.owner.username is empty: name a user of the gateway" },
      },
      "owner.team": {
        maxLength: 40,
        pattern: undefined,
        cel: {
          "self.matches('^[a-z0-9][a-z0-9-]{1,39}$')":
            "spec.owner.team is no short name of a team: write it like data-lab, with small letters, digits and hyphens",
        },
      },
      expiresAt: { format: "date-time" },
      quota: {
        cel: {
          "!(has(self.unlimited) && self.unlimited && has(self.amount) && self.amount > 0)":
            "spec.quota is unlimited and has an amount: leave one of them out",
        },
      },
      fallbacks: {
        cel: {
          "!(has(self.off) && self.off && has(self.models) && self.models.size() > 0)":
            "spec.fallbacks is off and names models: leave one of them out",
        },
      },
      modelLimits: { ...set, maxItems: 512 },
      "modelLimits[]": name("spec.modelLimits"),
      allowIps: { ...set, maxItems: 256 },
      "allowIps[]": {
        cel: {
          "isIP(self) || isCIDR(self)":
            "an entry of spec.allowIps is neither an address nor a network: write it like 192.0.2.7 or 10.0.0.0/8",
        },
      },
      "writeSecretTo.name": buildSecretNameRules("spec.writeSecretTo.name"),
      "writeSecretTo.key": buildSecretKeyRules("spec.writeSecretTo.key"),
    },
    columns: [
      { name: "Owner", type: "string", jsonPath: ".spec.owner.username" },
      { name: "Team", type: "string", jsonPath: ".spec.owner.team" },
    ],
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
