import { Button, Dialog, Portal } from "@chakra-ui/react";
import { useId, useState, type FormEvent } from "react";
import { TextField } from "../../ui/form/field.tsx";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { useTexts } from "./texts.ts";

/** Prompts for the tag of many channels. */
export function TagDialog(props: { readonly count: number; onTag(tag: string): void; onClose(): void }) {
  const t = useTexts();
  const ui = useUiTexts();
  const id = useId();
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    props.onTag(text.trim());
  };
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center" size="sm">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title>{t("tagManyTitle", { count: props.count })}</Dialog.Title>
            </Dialog.Header>
            <Dialog.Body>
              <form id={id} noValidate onSubmit={submit}>
                <TextField label={t("tag")} help={t("tagManyHelp")} value={text} onChange={setText} />
              </form>
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={props.onClose}>
                {ui("cancel")}
              </Button>
              <Button type="submit" form={id}>
                {t("tagNow")}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
