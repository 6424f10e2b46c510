/** How every chat answer of the offline model begins, so that nobody takes it for a model's. */
export const STAND_IN_MARK = "[offline stand-in] ";
