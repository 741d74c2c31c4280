import { UpstreamRefusal } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const REGION = /^[a-z]{2,}(?:-[a-z]+)+-\d$/;

export type AwsKey =
  | { readonly kind: "bearer"; readonly region: string; readonly token: string }
  | {
      readonly kind: "signed";
      readonly region: string;
      readonly id: string;
      readonly secret: string;
      readonly session: string | undefined;
    };

/**
 * Parses `AK|SK|region`, `region|API key` or `region|AK|SK|session`: the part that looks like a region is the region.
 */
export function parseAwsKey(key: string): AwsKey {
  const parts = key.split("|").map((part) => part.trim());
  const region = parts.find((part) => REGION.test(part));
  const [first, second, session, ...more] = parts.filter((part) => part !== region);
  if (region === undefined || !first || more.length > 0) {
    throw new UpstreamRefusal(
      upstreamError({
        class: "bad_key",
        status: 400,
        message: "The key must have the form AK|SK|region or region|API key.",
        code: "invalid_auth",
        disable: false,
      }),
    );
  }
  if (!second) return { kind: "bearer", region, token: first };
  return { kind: "signed", region, id: first, secret: second, session };
}

/** Returns the runtime host of the key's region. */
export function runtimeHost(key: string): string {
  const { region } = parseAwsKey(key);
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}
