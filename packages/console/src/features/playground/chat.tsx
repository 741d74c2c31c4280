import { Button, Flex, Heading, Text } from "@chakra-ui/react";
import { useEffect, useRef } from "react";
import { Link } from "react-router";
import { isAdmin, useUser } from "../../session/session.ts";
import { FilterSelect } from "../../ui/grid/filter-bar.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import type { PlaygroundChoice } from "./choice.ts";
import { Composer } from "./composer.tsx";
import type { Conversation } from "./conversation.ts";
import { RoundView } from "./message-view.tsx";
import { useTexts } from "./texts.ts";

function Welcome(props: { readonly hasModels: boolean; onPick(text: string): void }) {
  const t = useTexts();
  const user = useUser();
  return (
    <Flex direction="column" align="center" textAlign="center" gap="3" py="10">
      <Heading as="h2" textStyle="lg" fontWeight="semibold">
        {t("emptyTitle")}
      </Heading>
      <Text color="fg.muted" maxW="34rem" mb="2">
        {props.hasModels ? t("emptyBody") : t("noModels")}
      </Text>
      {!props.hasModels && isAdmin(user) && (
        <Button asChild>
          <Link to="/channel/add">{t("addChannel")}</Link>
        </Button>
      )}
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

/** Within this distance of the end, the newest text stays visible. */
const NEAR_PX = 80;

/** Follows the newest text, unless the reader scrolled away. */
function useFollow(conversation: Conversation) {
  const box = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  const { rounds } = conversation;
  useEffect(() => {
    if (isNear.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [rounds]);
  const onScroll = () => {
    const element = box.current;
    if (element) isNear.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
  };
  return { box, onScroll };
}

/** Shows each column's model, with a button to remove it. */
function ColumnHeads({
  choice,
  conversation,
}: {
  readonly choice: PlaygroundChoice;
  readonly conversation: Conversation;
}) {
  const t = useTexts();
  const { models, offered } = choice;
  return (
    <div className="column-heads">
      {models.map((model, column) => (
        <Flex key={column} gap="1" minW="0">
          <FilterSelect
            label={t("modelOf", { number: column + 1 })}
            isMain
            value={model}
            unset={model}
            choices={offered.map((name) => ({ value: name, label: name }))}
            onChange={(name) => choice.setModel(column, name)}
          />
          <IconButton
            label={t("removeModel", { model })}
            disabled={conversation.isBusy}
            onClick={() => {
              conversation.removeColumn(column);
              choice.removeModel(column);
            }}
          >
            <Icon name="close" />
          </IconButton>
        </Flex>
      ))}
    </div>
  );
}

/** The conversation and its input; several models answer side by side. */
export function Chat({
  choice,
  conversation,
}: {
  readonly choice: PlaygroundChoice;
  readonly conversation: Conversation;
}) {
  const t = useTexts();
  const { rounds, isBusy, draft, setDraft } = conversation;
  const { box, onScroll } = useFollow(conversation);
  const columns = choice.models.length;
  const hasModels = choice.query.data === undefined || choice.offered.length > 0;
  const widest = Math.max(columns, ...rounds.map(({ answers }) => answers.length));
  return (
    <section
      className={widest > 1 ? "playground-chat is-compared" : "playground-chat"}
      style={{ "--columns": Math.max(1, widest) } as React.CSSProperties}
      aria-label={t("conversation")}
    >
      {columns > 1 && <ColumnHeads choice={choice} conversation={conversation} />}
      <div ref={box} className="playground-messages" tabIndex={0} role="log" aria-busy={isBusy} onScroll={onScroll}>
        <div className="playground-list">
          {rounds.length === 0 && <Welcome hasModels={hasModels} onPick={setDraft} />}
          {rounds.map((round) => (
            <RoundView key={round.id} round={round} columns={columns} conversation={conversation} />
          ))}
        </div>
      </div>
      <Composer
        draft={draft}
        isBusy={isBusy}
        canSend={columns > 0}
        onDraft={setDraft}
        onSend={() => conversation.send(draft.trim())}
        onStop={conversation.stop}
      />
    </section>
  );
}
