import { CHANNEL_STATUS, type Channel } from "@fairway/wire";
import { formatExactTime } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { statusInfo } from "../../lib/text/status-info.ts";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { useTexts } from "./texts.ts";

type StateKey = "enabled" | "disabledByHand" | "disabledBySystem";

const STATES: Record<number, { mark: MarkKind; text: StateKey }> = {
  [CHANNEL_STATUS.enabled]: { mark: "go", text: "enabled" },
  [CHANNEL_STATUS.disabledByHand]: { mark: "parked", text: "disabledByHand" },
  [CHANNEL_STATUS.disabledBySystem]: { mark: "stop", text: "disabledBySystem" },
};

function toChannelState(status: number): { readonly mark: MarkKind; readonly text: StateKey } {
  return STATES[status] ?? { mark: "unknown", text: "disabledByHand" };
}

/** Shows whether the channel is in use. */
export function StatusMark({ status }: Pick<Channel, "status">) {
  const t = useTexts();
  const { mark, text } = toChannelState(status);
  return <Mark kind={mark} label={t(text)} />;
}

/** Shows whether the channel is in use, or why not. */
export function StateMark({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  const language = useLanguage();
  const state = toChannelState(channel.status);
  const { reason, at } = statusInfo(channel.other_info);
  const isReasoned = channel.status === CHANNEL_STATUS.disabledBySystem && reason !== "";
  // A pause or a person may have left a reason, too; it has no place in the row.
  const title =
    reason !== "" && channel.status !== CHANNEL_STATUS.enabled
      ? `${reason}${at === undefined ? "" : ` · ${formatExactTime(at, language)}`}`
      : undefined;
  return (
    <span className="cut" title={title}>
      <Mark kind={state.mark} label={isReasoned ? `${t(state.text)}: ${reason}` : t(state.text)} />
    </span>
  );
}
