import type { WebhookTestResult } from "@fairway/wire";
import { Box, Button, Text } from "@chakra-ui/react";
import { useState } from "react";
import { milliseconds } from "../../../lib/format.ts";
import { Icon } from "../../../ui/display/icon.tsx";
import { Mark } from "../../../ui/display/mark.tsx";
import { toastProblem } from "../../../ui/feedback/toaster.ts";
import { testEndpoint } from "../api.ts";
import type { Owner } from "../owner.ts";
import { useTexts } from "../texts.ts";

interface Test {
  readonly isRunning: boolean;
  readonly result: WebhookTestResult | undefined;
  run(): void;
}

/** Sends test messages to an endpoint; the last result stays on the page. */
export function useTest(owner: Owner, id: number): Test {
  const [isRunning, setRunning] = useState(false);
  const [result, setResult] = useState<WebhookTestResult>();
  const run = async () => {
    setRunning(true);
    await testEndpoint(owner, id).then(setResult, toastProblem);
    setRunning(false);
  };
  return { isRunning, result, run: () => void run() };
}

export function TestButton({ test, isMain }: { readonly test: Test; readonly isMain: boolean }) {
  const t = useTexts();
  return (
    <Button
      variant={isMain ? "solid" : "outline"}
      loading={test.isRunning}
      loadingText={t("testing")}
      onClick={test.run}
    >
      <Icon name="send" />
      {t("test")}
    </Button>
  );
}

/** Shows what the receiver answered, or that a test is due. */
export function TestReport({ test: { result }, isUntested }: { readonly test: Test; readonly isUntested: boolean }) {
  const t = useTexts();
  if (!result && !isUntested) return null;
  return (
    <Box role="status" borderWidth="1px" borderRadius="l3" bg="bg.panel" p="4">
      {result ? <Answer result={result} /> : <Text>{t("testFirst")}</Text>}
    </Box>
  );
}

function Answer({ result }: { readonly result: WebhookTestResult }) {
  const t = useTexts();
  const { passed, last_status: status, last_error: error, last_ms: ms } = result;
  return (
    <>
      <Mark kind={passed ? "go" : "stop"} label={t(passed ? "testPassed" : "testFailed")} />
      <Text textStyle="sm" color="fg.muted" mt="1" overflowWrap="anywhere">
        {status === 0 ? t("noAnswer") : t("answered", { status })} · {milliseconds(ms)}
      </Text>
      {error !== "" && (
        <Text textStyle="sm" mt="1" overflowWrap="anywhere" fontFamily="mono">
          {error}
        </Text>
      )}
    </>
  );
}
