import { Button, Dialog, Input, Portal, Textarea } from "@chakra-ui/react";
import type { FocusEvent } from "react";
import { useStore } from "../../lib/store.ts";
import { useTexts } from "../texts.ts";
import { uncopied } from "./copy.ts";

const ROWS = { least: 3, most: 12 };

/** Shown when the browser refuses the clipboard: the text, selected, to copy by hand. */
export function CopyDialog() {
  const t = useTexts();
  const text = useStore(uncopied) ?? "";
  const close = () => uncopied.write(undefined);
  const lines = text.split("\n").length;
  const field = {
    "aria-label": t("copy"),
    readOnly: true,
    value: text,
    fontFamily: "mono",
    onFocus: (event: FocusEvent<HTMLInputElement | HTMLTextAreaElement>) => event.target.select(),
  };
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && close()} placement="center">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title>{t("copyFailed")}</Dialog.Title>
            </Dialog.Header>
            <Dialog.Body>
              {lines === 1 ? (
                <Input {...field} />
              ) : (
                <Textarea {...field} rows={Math.min(ROWS.most, Math.max(ROWS.least, lines))} />
              )}
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={close}>
                {t("close")}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
