"""Memory, layouts, roofline performance, calibration and fleets."""
