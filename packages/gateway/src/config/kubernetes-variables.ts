import { formatTokenOwner, TeamSlug } from "@fairway/wire";
import { parseObject } from "../lib/text/json.ts";
import * as parse from "./parsers.ts";
import { define } from "./variable.ts";

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Variables of leader election and of the controller of custom resources. */
export const KUBERNETES_VARIABLES = {
  leader: define({
    name: "FAIRWAY_LEADER",
    about:
      "How replicas elect the one that does the work which must not run twice: lease by a Lease of Kubernetes and a row of the database, database by the row alone. auto takes the Lease where a service account may; the log says which and why.",
    fallback: "auto",
    example: "lease",
    parse: parse.createChoiceParser("auto", "lease", "database"),
  }),
  leaderLease: define({
    name: "FAIRWAY_LEADER_LEASE",
    about: "Name of the Lease, in the namespace of the pod. Installations of one namespace need different ones.",
    fallback: "fairway",
    example: "fairway-staging",
    parse: leaseName,
  }),
  kubernetesController: define({
    name: "FAIRWAY_KUBERNETES_CONTROLLER",
    about:
      "Follows the custom resources Channel, OptionSet, Token and Budget of a cluster and applies them. One replica at a time does.",
    fallback: "false",
    example: "true",
    parse: parse.boolean,
  }),
  kubernetesNamespaces: define({
    name: "FAIRWAY_KUBERNETES_NAMESPACES",
    about: "Namespaces whose resources the controller follows, with commas between. Blank means the one of the pod.",
    fallback: "",
    example: "ai,ai-staging",
    parse: names,
  }),
  kubernetesGateway: define({
    name: "FAIRWAY_KUBERNETES_GATEWAY",
    about:
      "Name of this installation in `status.gateway` and the annotation `fairway.dev/gateway` of resources. Installations that follow the same namespace need different names; the chart fills in namespace and release.",
    fallback: "fairway",
    example: "ai/fairway-staging",
    parse: gatewayName,
  }),
  kubernetesConfig: define({
    name: "FAIRWAY_KUBERNETES_CONFIG",
    about: "Path of a kubeconfig for the controller and the Lease. Blank means the service account of the pod.",
    fallback: "",
    example: "/etc/fairway/kubeconfig",
    parse: parse.optional(parse.text),
  }),
  kubernetesSecrets: define({
    name: "FAIRWAY_KUBERNETES_SECRETS",
    about:
      'The only Secrets that the controller reads, with commas between, where its role names them. Blank means those of its namespaces with the label `fairway.dev/readable: "true"`.',
    fallback: "",
    example: "openai,anthropic",
    parse: names,
  }),
  kubernetesOwnSecrets: define({
    name: "FAIRWAY_KUBERNETES_OWN_SECRETS",
    about:
      "Secrets that hold the keys of the gateway itself, with commas between. No custom resource may refer to them, labelled or listed; the chart fills this in.",
    fallback: "",
    example: "fairway-secrets,fairway-connections",
    parse: names,
  }),
  kubernetesTokenOwners: define({
    name: "FAIRWAY_KUBERNETES_TOKEN_OWNERS",
    about:
      'Whose keys the Token resources of a namespace may write into Secrets, as JSON: an array for each namespace, of user names and of `team:SLUG` for teams. `"*"` is every user, `"team:*"` every team. Others are refused.',
    fallback: "",
    example: '{"ai":["search-bot","team:research"]}',
    parse: ownerNames,
  }),
  kubernetesResyncSeconds: define({
    name: "FAIRWAY_KUBERNETES_RESYNC_SECONDS",
    about: "Seconds between two comparisons of all resources, which find what was changed past them.",
    fallback: "300",
    example: "60",
    parse: parse.integer(5, 86_400),
  }),
  kubernetesDrift: define({
    name: "FAIRWAY_KUBERNETES_DRIFT",
    about: "What happens to a field that was changed past its resource: enforce changes it back, report only says so.",
    fallback: "enforce",
    example: "report",
    parse: parse.createChoiceParser("enforce", "report"),
  }),
  kubernetesMaxDeletions: define({
    name: "FAIRWAY_KUBERNETES_MAX_DELETIONS",
    about:
      "Share or number of the resources of a kind and namespace that may be deleted within ten minutes; more are held until they are confirmed. Two are never held.",
    fallback: "50%",
    example: "20",
    parse: shareOrNumber,
  }),
  kubernetesFinalizers: define({
    name: "FAIRWAY_KUBERNETES_FINALIZERS",
    about: "Keeps a deleted resource until the gateway has deleted what it describes.",
    fallback: "true",
    example: "false",
    parse: parse.boolean,
  }),
};

function leaseName(value: string): string {
  if (NAME.test(value)) return value;
  throw new Error("give a name of Kubernetes: lower case letters, digits, dots and hyphens");
}

function gatewayName(value: string): string {
  if (/^[a-z0-9]([-a-z0-9./]{0,251}[a-z0-9])?$/.test(value)) return value;
  throw new Error("give a name: lower case letters, digits, dots, hyphens and slashes");
}

function names(value: string): readonly string[] {
  const all = value.split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
  if (all.every((name) => NAME.test(name))) return all;
  throw new Error("give names of Kubernetes with commas between");
}

function ownerNames(value: string): Readonly<Record<string, readonly string[]>> {
  const given = value === "" ? {} : parseObject(value);
  const lists = Object.entries(given ?? {}).flatMap(([namespace, owners]) => {
    const names = readTexts(owners);
    return names?.every(isOwnerName) && NAME.test(namespace) ? [[namespace, names] as const] : [];
  });
  if (given && lists.length === Object.keys(given).length) return Object.fromEntries(lists);
  throw new Error(
    'give an array of user names and short names of teams for each namespace, such as {"ai":["search-bot","team:research"]}',
  );
}

const OF_TEAM = formatTokenOwner({ team: "" });

/** A misspelt team would name no one, and its keys would be refused without a reason that shows the mistake. */
function isOwnerName(name: string): boolean {
  const slug = name.slice(OF_TEAM.length);
  return !name.startsWith(OF_TEAM) || slug === "*" || TeamSlug.safeParse(slug).success;
}

function readTexts(value: unknown): readonly string[] | undefined {
  const isText = (one: unknown) => typeof one === "string" && one !== "";
  return Array.isArray(value) && value.every(isText) ? value : undefined;
}

function shareOrNumber(value: string): { readonly percent: number } | { readonly count: number } {
  const [, digits, sign] = /^(\d{1,7})(%?)$/.exec(value) ?? [];
  const number = Number(digits);
  if (digits !== undefined && sign === "%" && number <= 100) return { percent: number };
  if (digits !== undefined && sign === "") return { count: number };
  throw new Error("give a share up to 100%, or a whole number");
}
