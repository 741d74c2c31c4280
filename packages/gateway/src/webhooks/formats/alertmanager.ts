import { findEventType } from "../../events/catalogue.ts";
import { findPageAddress } from "../texts/page-address.ts";
import { JSON_HEADERS, type Format } from "./format.ts";

/** An event that ends the state which another one began. */
const ENDS: Readonly<Record<string, string>> = {
  "channel.enabled": "channel.disabled",
};
/** A state without an event that ends it is reported for this long. */
const STATE_MS = 60 * 60_000;

/** The API of Alertmanager for alerts. */
export const ALERTMANAGER: Format = {
  name: "alertmanager",
  isText: false,
  pauseMs: 0,
  build({ target, events, nowMs, text, serverAddress }) {
    const alerts = events.map(({ type, severity, at_ms, data }) => {
      const begun = ENDS[type];
      return {
        labels: {
          alertname: begun ?? type,
          // The labels name the alert, so the event that ends it has those of its beginning.
          severity: findEventType(begun ?? type)?.severity ?? severity,
          scope: type.split(".")[0] ?? "",
          name: readName(data),
        },
        annotations: { summary: text.title },
        startsAt: new Date(at_ms).toISOString(),
        endsAt: new Date(begun === undefined ? Math.max(at_ms, nowMs) + STATE_MS : nowMs).toISOString(),
        ...(serverAddress !== "" && { generatorURL: findPageAddress([type], serverAddress) }),
      };
    });
    return { url: target.url, headers: JSON_HEADERS, body: JSON.stringify(alerts) };
  },
};

function readName(data: Readonly<Record<string, unknown>>): string {
  const name = data["name"] ?? data["username"] ?? data["id"];
  return typeof name === "string" || typeof name === "number" ? String(name) : "";
}
