import { OPERATOR, OWN } from "../owner.ts";
import { AddEndpoint, EditEndpoint } from "./endpoint-drawer.tsx";

export { MailDrawer } from "./mail-drawer.tsx";

export const AddOwnEndpoint = () => <AddEndpoint owner={OWN} />;
export const AddOperatorEndpoint = () => <AddEndpoint owner={OPERATOR} />;
export const EditOwnEndpoint = () => <EditEndpoint owner={OWN} />;
export const EditOperatorEndpoint = () => <EditEndpoint owner={OPERATOR} />;
