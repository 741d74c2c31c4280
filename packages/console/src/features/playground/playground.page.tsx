import { Box, Button, Flex, Heading, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { modelsQuery } from "../../app/session/models.ts";
import { useUser } from "../../app/session/session.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { ask } from "../../ui/ask.ts";
import { LoadFailed } from "../../ui/empty.tsx";
import { FilterSelect } from "../../ui/filter-bar.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Page } from "../../ui/page.tsx";
import { groupsQuery, modelsByGroupQuery } from "./api.ts";
import { Composer } from "./composer.tsx";
import { useConversation, type Conversation } from "./conversation.ts";
import { MessageView } from "./message-view.tsx";
import { Parameters } from "./parameters.tsx";
import "./playground.css";
import { bodyOf, NO_SETTINGS, type Choice, type Settings } from "./request.ts";
import { useTexts } from "./texts.ts";

const CodeDialog = lazy(async () => ({ default: (await import("./code-dialog.tsx")).CodeDialog }));

const DEFAULTS = { model: "", group: "" };
/** Small, quick and known everywhere. */
const USUAL_MODEL = "gpt-4o-mini";
/** Nearer to the end than this, the newest text stays in sight. */
const NEAR_PX = 80;

/** The model and the group of the address, or what this user has. */
function useChoice() {
  const [state, change] = useUrlState(DEFAULTS);
  const groups = useQuery(groupsQuery).data ?? {};
  const query = useQuery(modelsQuery);
  const byGroup = useQuery(modelsByGroupQuery).data;
  const own = useUser()?.group ?? "";
  const group = Object.hasOwn(groups, state.group) ? state.group : "";
  const models = (query.data ?? []).filter((name) => byGroup?.get(name)?.has(group || own) ?? true);
  const usual = models.includes(USUAL_MODEL) ? USUAL_MODEL : models[0];
  const model = models.includes(state.model) ? state.model : (usual ?? "");
  return { choice: { model, group }, change, groups, models, query };
}

function Pickers(props: Pick<ReturnType<typeof useChoice>, "choice" | "change" | "groups" | "models">) {
  const t = useTexts();
  const { choice, change, groups, models } = props;
  const names = Object.keys(groups);
  return (
    <>
      {names.length > 1 && (
        <FilterSelect
          label={t("group")}
          value={choice.group}
          choices={[{ value: "", label: t("ownGroup") }, ...names.map((name) => ({ value: name, label: name }))]}
          onChange={(group) => change({ group })}
        />
      )}
      {models.length > 0 && (
        <FilterSelect
          label={t("model")}
          value={choice.model}
          unset={choice.model}
          choices={models.map((name) => ({ value: name, label: name }))}
          onChange={(model) => change({ model })}
        />
      )}
    </>
  );
}

function Welcome(props: { readonly hasModels: boolean; onPick(text: string): void }) {
  const t = useTexts();
  return (
    <Flex direction="column" align="center" textAlign="center" gap="3" py="10">
      <Heading as="h2" textStyle="lg" fontWeight="semibold">
        {t("emptyTitle")}
      </Heading>
      <Text color="fg.muted" maxW="34rem" mb="2">
        {props.hasModels ? t("emptyBody") : t("noModels")}
      </Text>
      {props.hasModels && (
        <div className="examples">
          {(["exampleOne", "exampleTwo", "exampleThree"] as const).map((name) => (
            <Button
              key={name}
              variant="outline"
              h="auto"
              py="2"
              whiteSpace="normal"
              justifyContent="flex-start"
              textAlign="start"
              onClick={() => props.onPick(t(name))}
            >
              {t(name)}
            </Button>
          ))}
        </div>
      )}
    </Flex>
  );
}

/** Follows the newest text, unless the reader scrolled away from it. */
function useFollow(conversation: Conversation) {
  const box = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  const { messages } = conversation;
  useEffect(() => {
    if (isNear.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [messages]);
  const onScroll = () => {
    const element = box.current;
    if (element) isNear.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
  };
  return { box, onScroll };
}

interface ChatProps {
  readonly conversation: Conversation;
  readonly model: string;
  readonly hasModels: boolean;
}

function Chat(props: ChatProps) {
  const t = useTexts();
  const [draft, setDraft] = useState("");
  const { conversation, model } = props;
  const { messages, isBusy } = conversation;
  const { box, onScroll } = useFollow(conversation);
  const send = () => {
    conversation.send(draft.trim());
    setDraft("");
  };
  return (
    <section className="playground-chat" aria-label={t("conversation")}>
      <div ref={box} className="playground-messages" tabIndex={0} role="log" aria-busy={isBusy} onScroll={onScroll}>
        <div className="playground-list">
          {messages.length === 0 && <Welcome hasModels={props.hasModels} onPick={setDraft} />}
          {messages.map((message) => (
            <MessageView
              key={message.id}
              message={message}
              isBusy={isBusy}
              onAgain={() => conversation.again(message.id)}
              onEdit={() => setDraft(conversation.takeBack(message.id))}
              onRemove={() => conversation.remove(message.id)}
            />
          ))}
        </div>
      </div>
      <Composer
        draft={draft}
        isBusy={isBusy}
        canSend={model !== ""}
        onDraft={setDraft}
        onSend={send}
        onStop={conversation.stop}
      />
    </section>
  );
}

function HeadActions(props: {
  readonly conversation: Conversation;
  readonly choice: Choice;
  readonly settings: Settings;
}) {
  const t = useTexts();
  const [isCode, setCode] = useState(false);
  const { conversation, choice, settings } = props;
  const clear = async () => {
    const question = { title: t("clearTitle"), body: t("clearBody"), confirm: t("clear"), isDangerous: true };
    if (await ask(question)) conversation.clear();
  };
  const answer = conversation.messages.findLast(({ role, state }) => role === "assistant" && state !== "loading");
  return (
    <>
      <Button variant="outline" onClick={() => setCode(true)}>
        <Icon name="code" size={15} />
        {t("code")}
      </Button>
      <Button variant="outline" disabled={conversation.messages.length === 0} onClick={() => void clear()}>
        {t("clear")}
      </Button>
      <Suspense>
        {isCode && (
          <CodeDialog
            body={conversation.sent ?? bodyOf([], choice, settings)}
            answer={answer}
            onClose={() => setCode(false)}
          />
        )}
      </Suspense>
    </>
  );
}

/** A conversation with any model that the user may use, through the gateway. */
export function PlaygroundPage() {
  const t = useTexts();
  const { choice, query, ...rest } = useChoice();
  const [settings, setSettings] = useState(NO_SETTINGS);
  const conversation = useConversation(choice, settings);
  return (
    <Page
      title={t("title")}
      aside={<Pickers choice={choice} {...rest} />}
      actions={<HeadActions conversation={conversation} choice={choice} settings={settings} />}
    >
      {query.error && !query.data ? (
        <LoadFailed problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div className="playground">
          <Chat
            conversation={conversation}
            model={choice.model}
            hasModels={query.data === undefined || rest.models.length > 0}
          />
          <Box as="aside" className="playground-side">
            <Heading as="h2" textStyle="md" fontWeight="semibold" mb="3">
              {t("parameters")}
            </Heading>
            <Parameters settings={settings} onChange={(change) => setSettings({ ...settings, ...change })} />
          </Box>
        </div>
      )}
    </Page>
  );
}
