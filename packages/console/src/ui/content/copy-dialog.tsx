import { Button, Input, Textarea } from "@chakra-ui/react";
import type { FocusEvent } from "react";
import { useStore } from "../../lib/store.ts";
import { useTexts } from "../texts.ts";
import { uncopied } from "./copy.ts";
import { Modal } from "../feedback/modal.tsx";

const ROWS = { least: 3, most: 12 };

/** Shown if the browser refuses the clipboard: the text, selected, to copy by hand. */
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
    <Modal
      title={t("copyFailed")}
      onClose={close}
      footer={
        <Button variant="outline" onClick={close}>
          {t("close")}
        </Button>
      }
    >
      {lines === 1 ? (
        <Input {...field} />
      ) : (
        <Textarea {...field} rows={Math.min(ROWS.most, Math.max(ROWS.least, lines))} />
      )}
    </Modal>
  );
}
