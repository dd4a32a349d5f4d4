"""Fitting the calibration entries anew from measured tables and audited results (`rackfit calibrate`); nothing at run time needs it."""
