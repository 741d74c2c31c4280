import { Button, Flex, Text } from "@chakra-ui/react";
import { useCallback, useEffect, useRef, useState, type ReactNode } from "react";
import { useStatus } from "../../session/status.ts";
import { useThemeMode } from "../../theme/theme-mode.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { ApiProblem } from "../../lib/problems.ts";
import { useTexts } from "./texts.ts";
import { loadTurnstile, type Turnstile } from "./turnstile.ts";

/** Error codes of the check itself: its token is used up. */
const REFUSED = new Set(["turnstile_pending", "turnstile_failed", "turnstile_unreachable"]);

export interface HumanCheck {
  /** Part of the form; empty if the check is off. */
  readonly widget: ReactNode;
  /** True if the check is on and has not passed yet. */
  readonly isMissing: boolean;
  /** The message if the form is sent too early. */
  readonly waitText: string;
  /** The query members that prove the check. */
  readonly proof: Readonly<Record<string, string>>;
  /** Restarts the check if it was refused. */
  noteProblem(problem: unknown): void;
}

/** The human check of visitors' forms, if the operator has enabled it. */
export function useHumanCheck(): HumanCheck {
  const { turnstile_check: isOn, turnstile_site_key: siteKey } = useStatus();
  const t = useTexts();
  const [token, setToken] = useState("");
  const [round, setRound] = useState(0);
  const noteProblem = useCallback((problem: unknown) => {
    if (problem instanceof ApiProblem && REFUSED.has(problem.key ?? "")) setRound((current) => current + 1);
  }, []);
  return {
    widget: isOn ? <Widget key={round} siteKey={siteKey} onToken={setToken} /> : null,
    isMissing: isOn && token === "",
    waitText: t("humanCheckWait"),
    proof: isOn ? { turnstile: token } : {},
    noteProblem,
  };
}

interface WidgetProps {
  readonly siteKey: string;
  /** Called with "" when a token has expired. */
  onToken(token: string): void;
}

function Widget({ siteKey, onToken }: WidgetProps) {
  const t = useTexts();
  const theme = useThemeMode();
  const language = useLanguage();
  const box = useRef<HTMLDivElement>(null);
  const [isFailed, setFailed] = useState(false);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isUnmounted = false;
    let remove = () => {};
    const show = (turnstile: Turnstile) => {
      if (isUnmounted || !box.current) return;
      const id = turnstile.render(box.current, {
        sitekey: siteKey,
        theme,
        language: language === "zh" ? "zh-CN" : "en",
        callback: onToken,
        "expired-callback": () => onToken(""),
        "error-callback": () => setFailed(true),
      });
      remove = () => turnstile.remove(id);
    };
    setFailed(false);
    onToken("");
    loadTurnstile().then(show, () => !isUnmounted && setFailed(true));
    return () => {
      isUnmounted = true;
      remove();
    };
  }, [siteKey, theme, language, onToken, tries]);
  return (
    <Flex direction="column" gap="2">
      <div ref={box} role="group" aria-label={t("humanCheck")} />
      {isFailed && (
        <Flex role="alert" gap="3" align="center" textStyle="sm" color="fg.error">
          <Text flex="1">{t("humanCheckFailed")}</Text>
          <Button size="xs" variant="outline" onClick={() => setTries(tries + 1)}>
            {t("retryHumanCheck")}
          </Button>
        </Flex>
      )}
    </Flex>
  );
}
