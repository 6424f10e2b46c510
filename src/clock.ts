/** The current time. Without one, the database's own clock decides, which all machines share. */
export type Clock = () => Date;
