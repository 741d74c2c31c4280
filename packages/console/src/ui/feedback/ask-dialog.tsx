import { Button, Dialog, Portal, Text } from "@chakra-ui/react";
import { useRef } from "react";
import { useStore } from "../../lib/store.ts";
import { pendingQuestion } from "./ask.ts";
import { useTexts } from "../texts.ts";

/** The one dialog of `ask`, rendered once in the application. */
export function AskDialog() {
  const t = useTexts();
  const current = useStore(pendingQuestion);
  const shown = useRef(current);
  if (current) shown.current = current;
  const question = shown.current;
  const confirm = useRef<HTMLButtonElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <Dialog.Root
      role="alertdialog"
      open={current !== undefined}
      onOpenChange={(change) => !change.open && current?.answer(false)}
      // Enter must not destroy anything by itself.
      initialFocusEl={() => (question?.isDangerous ? cancel.current : confirm.current)}
      placement="center"
      size="sm"
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title>{question?.title}</Dialog.Title>
            </Dialog.Header>
            <Dialog.Body>
              <Text as="div" color="fg.muted">
                {question?.body}
              </Text>
            </Dialog.Body>
            <Dialog.Footer>
              <Button ref={cancel} variant="outline" onClick={() => current?.answer(false)}>
                {question?.cancel ?? t("cancel")}
              </Button>
              <Button
                ref={confirm}
                colorPalette={question?.isDangerous ? "port" : "fairway"}
                onClick={() => current?.answer(true)}
              >
                {question?.confirm}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
