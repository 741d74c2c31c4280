import { Button, Text } from "@chakra-ui/react";
import { useRef } from "react";
import { useStore } from "../../lib/store.ts";
import { pendingQuestion } from "./ask.ts";
import { useTexts } from "../texts.ts";
import { Modal } from "./modal.tsx";

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
    <Modal
      title={question?.title}
      isOpen={current !== undefined}
      role="alertdialog"
      // Enter alone must not destroy anything.
      initialFocusEl={() => (question?.isDangerous ? cancel.current : confirm.current)}
      size="sm"
      onClose={() => current?.answer(false)}
      footer={
        <>
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
        </>
      }
    >
      <Text as="div" color="fg.muted">
        {question?.body}
      </Text>
    </Modal>
  );
}
