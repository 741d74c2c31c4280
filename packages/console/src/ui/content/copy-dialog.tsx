import { Button, Dialog, Input, Portal } from "@chakra-ui/react";
import { useTexts } from "../texts.ts";

/** Shown when the browser refuses the clipboard: the text, selected, to copy by hand. */
export function CopyDialog(props: { readonly text: string; onClose(): void }) {
  const t = useTexts();
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title>{t("copyFailed")}</Dialog.Title>
            </Dialog.Header>
            <Dialog.Body>
              <Input
                aria-label={t("copy")}
                readOnly
                value={props.text}
                fontFamily="mono"
                onFocus={(event) => event.target.select()}
              />
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={props.onClose}>
                {t("close")}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
