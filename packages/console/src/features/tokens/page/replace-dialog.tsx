import { tokenOfUserRotate, type TokenFacts } from "@fairway/wire";
import { call } from "../../../lib/http.ts";
import type { Version } from "../../../lib/rows.ts";
import { RotateForm } from "../../../shared/rotation/rotate-form.tsx";
import { toast } from "../../../ui/feedback/toaster.ts";
import { refresh } from "../api.ts";
import { useTexts } from "../texts.ts";

interface ReplaceProps {
  readonly version: Version<TokenFacts>;
  onClose(): void;
}

/** Gives the token of another user a new key, which only its owner can read. */
export function ReplaceDialog({ version: { row: token, tag }, onClose }: ReplaceProps) {
  const t = useTexts();
  const rotate = (seconds: number) =>
    call(tokenOfUserRotate, { params: { id: token.id }, body: { grace_seconds: seconds }, ifMatch: tag }).finally(
      () => void refresh(),
    );
  const tell = () => {
    toast("success", t("replacedOfUser", { name: token.name, user: token.username }));
    onClose();
  };
  return <RotateForm name={token.name} grace="0" rotate={rotate} onRotated={tell} onClose={onClose} />;
}
