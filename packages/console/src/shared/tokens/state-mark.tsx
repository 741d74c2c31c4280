import { TOKEN_STATUS, type Token } from "@fairway/wire";
import { useNow } from "../../lib/now.ts";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { resolveTokenStatus } from "./state.ts";
import { useTexts } from "./texts.ts";

interface State {
  readonly mark: MarkKind;
  readonly text: "enabled" | "disabledByAdmin" | "disabled" | "expired" | "exhausted";
}

const STATES: Readonly<Record<number, State>> = {
  [TOKEN_STATUS.enabled]: { mark: "go", text: "enabled" },
  [TOKEN_STATUS.disabled]: { mark: "parked", text: "disabled" },
  [TOKEN_STATUS.expired]: { mark: "stop", text: "expired" },
  [TOKEN_STATUS.exhausted]: { mark: "stop", text: "exhausted" },
};

const BY_ADMIN: State = { mark: "stop", text: "disabledByAdmin" };

/** Shows whether a token can be used now, or why not. */
export function StateMark({ token }: { readonly token: Pick<Token, "status" | "expired_time" | "disabled_by_admin"> }) {
  const t = useTexts();
  const state = STATES[resolveTokenStatus(token, useNow())] ?? { mark: "unknown", text: "disabled" };
  const { mark, text } = token.disabled_by_admin ? BY_ADMIN : state;
  return <Mark kind={mark} label={t(text)} title={token.disabled_by_admin ? t(text) : undefined} />;
}
