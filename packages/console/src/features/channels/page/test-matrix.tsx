import { Button, Text } from "@chakra-ui/react";
import { splitList, type Channel } from "@fairway/wire";
import { useRef, useState } from "react";
import { milliseconds } from "../../../lib/format.ts";
import { Graded, Mark } from "../../../ui/display/mark.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { problemText } from "../../../ui/feedback/toaster.ts";
import { responseGrade } from "../response-grade.ts";
import { useTexts as useChannelTexts } from "../texts.ts";
import { useTexts } from "./texts.ts";
import { testModel } from "./api.ts";

type Result =
  | { readonly state: "running" }
  | { readonly state: "good"; readonly ms: number }
  | { readonly state: "bad"; readonly message: string };

/** Parallel tests: enough to be quick, few enough for a provider's rate limits. */
const AT_ONCE = 2;

function useTests(id: number) {
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [isRunning, setRunning] = useState(false);
  const stopped = useRef(false);
  const note = (model: string, result: Result) => setResults((known) => new Map(known).set(model, result));
  const run = async (model: string) => {
    note(model, { state: "running" });
    await testModel(id, model).then(
      (ms) => note(model, { state: "good", ms }),
      (problem: unknown) => note(model, { state: "bad", message: problemText(problem) }),
    );
  };
  const runAll = async (models: readonly string[]) => {
    stopped.current = false;
    setRunning(true);
    const waiting = [...models];
    const worker = async () => {
      for (let model = waiting.shift(); model !== undefined && !stopped.current; model = waiting.shift()) {
        await run(model);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    setRunning(false);
  };
  return { results, isRunning, run, runAll, stop: () => (stopped.current = true) };
}

function ResultCell({ result }: { readonly result: Result | undefined }) {
  const t = useChannelTexts();
  if (!result) return <span className="soft">{t("untested")}</span>;
  if (result.state === "running") return <Mark kind="underway" label={t("testing")} />;
  if (result.state === "bad") return <Mark kind="stop" label={t("testFailed")} />;
  return <Graded grade={responseGrade(result.ms)} text={milliseconds(result.ms)} />;
}

/** Every model of the channel with the result of its test on this page. */
export function TestMatrix({ channel, canTest }: { readonly channel: Channel; readonly canTest: boolean }) {
  const t = useTexts();
  const ofChannel = useChannelTexts();
  const models = splitList(channel.models);
  const { results, isRunning, run, runAll, stop } = useTests(channel.id);
  return (
    <Panel
      title={t("matrix")}
      count={models.length}
      empty={t("matrixNone")}
      isShortened
      link={
        canTest && (
          <Button size="xs" variant="outline" onClick={() => (isRunning ? stop() : void runAll(models))}>
            {isRunning ? t("matrixStop") : t("matrixRun", { count: models.length })}
          </Button>
        )
      }
    >
      {models.map((model) => {
        const result = results.get(model);
        return (
          <PanelRow key={model}>
            <Text fontFamily="mono" flex="1" minW="0" truncate title={model}>
              {model}
            </Text>
            <ResultCell result={result} />
            {canTest && (
              <Button
                size="xs"
                variant="ghost"
                aria-label={ofChannel("test", { name: model })}
                disabled={result?.state === "running"}
                onClick={() => void run(model)}
              >
                {ofChannel("formTest")}
              </Button>
            )}
            {result?.state === "bad" && (
              <Text color="fg.error" width="full" overflowWrap="anywhere">
                {result.message}
              </Text>
            )}
          </PanelRow>
        );
      })}
    </Panel>
  );
}
