import { Box } from "@chakra-ui/react";
import { status } from "@fairway/wire";
import { useEffect } from "react";
import { call } from "../../lib/http.ts";
import { useHealth } from "../../lib/server/health.ts";
import { useTexts } from "../../shared/texts.ts";

const PAUSE_MS = 5_000;

/** Says that the server is unreachable, and polls until it answers: pages that read nothing would not notice. */
export function AwayBanner() {
  return useHealth() === "away" ? <Away /> : null;
}

function Away() {
  const t = useTexts();
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      // The call itself records a failure, so that the banner stays.
      await call(status, { signal: stop.signal }).catch(() => undefined);
      if (!stop.signal.aborted) timer = setTimeout(() => void ask(), PAUSE_MS);
    };
    timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, []);
  return (
    <Box role="alert" bg="bg.warning" color="fg.warning" px="6" py="2" textStyle="sm" borderBottomWidth="1px">
      {t("awayBanner")}
    </Box>
  );
}
