import { Box, Button, Flex, Heading } from "@chakra-ui/react";
import { Suspense, useState } from "react";
import { ask } from "../../ui/feedback/ask.ts";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { FilterSelect } from "../../ui/grid/filter-bar.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { Page } from "../../ui/display/page.tsx";
import { Chat } from "./chat.tsx";
import { useChoice, type PlaygroundChoice } from "./choice.ts";
import { useConversation, type Conversation } from "./conversation.ts";
import { Parameters } from "./parameters.tsx";
import "./playground.css";
import { buildRequestBody } from "./request.ts";
import { useTexts } from "./texts.ts";
import { lateOverlay } from "../../ui/late/late.tsx";

const CodeDialog = lateOverlay(async () => (await import("./code-dialog.tsx")).CodeDialog);

/** The group, and the model if it is the only one. */
function Pickers({ choice }: { readonly choice: PlaygroundChoice }) {
  const t = useTexts();
  const { group, groups, models, offered } = choice;
  const names = Object.keys(groups);
  const [model] = models;
  return (
    // On phones this is below the title and its buttons, which share a row.
    <Flex
      gap="2"
      minW="0"
      order={{ base: 1, sm: 0 }}
      width={{ base: "full", sm: "auto" }}
      wrap={{ base: "wrap", sm: "nowrap" }}
    >
      {names.length > 1 && (
        <Box flex={{ base: "1 1 0", sm: "none" }} minW="0">
          <FilterSelect
            isMain
            width="150px"
            label={t("group")}
            value={group}
            choices={[{ value: "", label: t("ownGroup") }, ...names.map((name) => ({ value: name, label: name }))]}
            onChange={choice.setGroup}
          />
        </Box>
      )}
      {model !== undefined && models.length === 1 && (
        <Box flex={{ base: "1 1 100%", sm: "none" }} order={{ base: 1, sm: 0 }} minW="0">
          <FilterSelect
            isMain
            width="220px"
            label={t("model")}
            value={model}
            unset={model}
            choices={offered.map((name) => ({ value: name, label: name }))}
            onChange={(name) => choice.setModel(0, name)}
          />
        </Box>
      )}
      {choice.addModel && (
        <Button variant="outline" onClick={choice.addModel}>
          <Icon name="plus" size={15} />
          {t("compare")}
        </Button>
      )}
    </Flex>
  );
}

function HeadActions(props: { readonly conversation: Conversation; readonly choice: PlaygroundChoice }) {
  const t = useTexts();
  const [isCode, setCode] = useState(false);
  const { conversation, choice } = props;
  const { rounds, settings } = conversation;
  const clear = async () => {
    const question = { title: t("clearTitle"), body: t("clearBody"), confirm: t("clear"), isDangerous: true };
    if (await ask(question)) conversation.clear();
  };
  const answer = rounds.map(({ answers }) => answers[0]).findLast((one) => one && one.state !== "loading");
  return (
    <>
      <Button variant="outline" onClick={() => setCode(true)}>
        <Icon name="code" size={15} />
        {t("code")}
      </Button>
      <Button variant="outline" disabled={rounds.length === 0} onClick={() => void clear()}>
        {t("clear")}
      </Button>
      <Suspense>
        {isCode && (
          <CodeDialog
            body={
              conversation.sent ??
              buildRequestBody([], { model: choice.models[0] ?? "", group: choice.group }, settings)
            }
            answer={answer}
            onClose={() => setCode(false)}
          />
        )}
      </Suspense>
    </>
  );
}

/** A conversation with any models that the user may use, through the gateway. */
export function PlaygroundPage() {
  const t = useTexts();
  const choice = useChoice();
  const conversation = useConversation(choice.models, choice.group);
  const { query } = choice;
  return (
    <Page
      title={t("title")}
      aside={<Pickers choice={choice} />}
      actions={<HeadActions conversation={conversation} choice={choice} />}
    >
      {query.error && !query.data ? (
        <LoadFailed problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div className="playground">
          <Chat choice={choice} conversation={conversation} />
          <Box as="aside" className="playground-side">
            <Heading as="h2" textStyle="md" fontWeight="semibold" mb="3">
              {t("parameters")}
            </Heading>
            <Parameters settings={conversation.settings} onChange={conversation.setSettings} />
          </Box>
        </div>
      )}
    </Page>
  );
}
