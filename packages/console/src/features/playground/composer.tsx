import { Button, Flex, Textarea } from "@chakra-ui/react";
import { useEffect, useRef, type KeyboardEvent } from "react";
import { printKeys } from "../../lib/keys.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { useTexts } from "./texts.ts";

interface ComposerProps {
  readonly draft: string;
  readonly isBusy: boolean;
  /** False if there is no model to ask. */
  readonly canSend: boolean;
  onDraft(text: string): void;
  onSend(): void;
  onStop(): void;
}

/** The input for messages. Enter breaks the line, because messages to models have many lines; Ctrl Enter sends. */
export function Composer(props: ComposerProps) {
  const t = useTexts();
  const area = useRef<HTMLTextAreaElement>(null);
  const { draft, isBusy } = props;
  const isReady = draft.trim() !== "" && props.canSend && !isBusy;
  const wasBusy = useRef(false);
  // After an answer the focus returns to the input; a page that opens leaves it on its title.
  useEffect(() => {
    if (wasBusy.current && !isBusy) area.current?.focus({ preventScroll: true });
    wasBusy.current = isBusy;
  }, [isBusy]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Escape" && isBusy) props.onStop();
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (isReady) props.onSend();
  }

  return (
    <Flex className="composer" gap="2" align="flex-end">
      <Textarea
        ref={area}
        aria-label={t("message")}
        placeholder={t("messageHint")}
        rows={3}
        maxH="40dvh"
        autoresize
        value={draft}
        onChange={(event) => props.onDraft(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isBusy ? (
        <Button variant="outline" onClick={props.onStop}>
          <Icon name="stop" size={14} />
          {t("stop")}
        </Button>
      ) : (
        <Button disabled={!isReady} title={printKeys("mod+Enter")} onClick={props.onSend}>
          <Icon name="send" size={14} />
          {t("send")}
        </Button>
      )}
    </Flex>
  );
}
