import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useEffect, useRef, useState } from "react";
import { stored } from "../../lib/storage.ts";
import { useStatus } from "../../session/status.ts";
import { useTexts } from "./texts.ts";

const SCRIPT = "https://telegram.org/js/telegram-widget.js?22";

/** Returns Telegram's return address; only this tab knows the state. */
function returnAddress(): string {
  const state = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  stored.telegramState.write(state.join(""));
  return `${location.origin}/oauth/telegram?state=${state.join("")}`;
}

/** Telegram's own button, which its script inserts next to itself. */
export function TelegramWidget() {
  const t = useTexts();
  const { telegram_bot_name: bot } = useStatus();
  const box = useRef<HTMLDivElement>(null);
  const [attempt, setAttempt] = useState(0);
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    const place = box.current;
    if (!place) return;
    const script = document.createElement("script");
    script.src = SCRIPT;
    script.async = true;
    Object.assign(script.dataset, { telegramLogin: bot, size: "large", authUrl: returnAddress() });
    script.addEventListener("error", () => setFailed(true));
    place.append(script);
    return () => place.replaceChildren();
  }, [bot, attempt]);
  const retry = () => {
    setFailed(false);
    setAttempt(attempt + 1);
  };
  return (
    <Flex direction="column" align="center" minH="10">
      <Box ref={box} />
      {isFailed && (
        <Flex role="alert" align="center" gap="3" wrap="wrap">
          <Text textStyle="sm" color="fg.error">
            {t("telegramFailed")}
          </Text>
          <Button size="xs" variant="outline" onClick={retry}>
            {t("retryHumanCheck")}
          </Button>
        </Flex>
      )}
    </Flex>
  );
}
