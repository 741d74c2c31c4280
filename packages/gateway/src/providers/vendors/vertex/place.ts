import type { RequestSpec } from "../../../dialects/core/types.ts";
import { text } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";
import type { ChannelRecord } from "../../core/types.ts";
import { UpstreamRefusal } from "../../core/failed-answer.ts";
import { serviceAccount } from "./token.ts";

const DEFAULT_REGION = "us-central1";
/** A region is part of the host name, so it must not contain anything that could end the name. */
const REGION = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/**
 * Returns the region from `other`: a region, or a map of regions by the client's model name with a `default`. Throws if
 * the text is not a region.
 */
export function requireRegion(channel: ChannelRecord, spec: RequestSpec): string {
  const region = namedRegion(channel, spec);
  if (REGION.test(region)) return region;
  const message = "The region of the channel is not the name of a region, such as us-central1.";
  throw new UpstreamRefusal(upstreamError({ class: "bad_request", status: 400, message, disable: false }));
}

function namedRegion(channel: ChannelRecord, spec: RequestSpec): string {
  const other = channel.other.trim();
  if (!other.startsWith("{")) return other === "" ? DEFAULT_REGION : other;
  const map = parseObject(other);
  return text(map, spec.model) ?? text(map, "default") ?? DEFAULT_REGION;
}

/** https://cloud.google.com/vertex-ai/docs/reference/rest#rest_endpoints */
function buildHost(region: string): string {
  if (region === "global") return "https://aiplatform.googleapis.com";
  if (region === "us" || region === "eu") return `https://aiplatform.${region}.rep.googleapis.com`;
  return `https://${region}-aiplatform.googleapis.com`;
}

/**
 * Returns the whole URL, or only the path if the channel has a base URL. A plain API key (express mode) has no project.
 */
export function place(channel: ChannelRecord, spec: RequestSpec, key: string, tail: string): string {
  const region = requireRegion(channel, spec);
  const account = serviceAccount(key);
  const path = account ? `/v1/projects/${account.projectId}/locations/${region}/${tail}` : `/v1/${tail}`;
  if (channel.baseUrl !== "") return path;
  return (account ? buildHost(region) : buildHost("global")) + path;
}

/**
 * Returns a Claude model's name at Vertex: `claude-…-YYYYMMDD` is `claude-…@YYYYMMDD`; the newest models have no date.
 */
export function claudeName(named: string): string {
  const model = named.replace(/-thinking$/, "");
  if (model === "claude-3-5-sonnet-20241022") return "claude-3-5-sonnet-v2@20241022";
  return model.replace(/-(\d{8})$/, "@$1");
}
